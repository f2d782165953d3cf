package topology

// Detect returns the machine on which it runs: one leaf for every hardware
// thread that the calling thread may use, with its CPU number, and those of the
// levels socket, numa, cache (the last one) and core that tell something apart
// here. A level with the same elements as the one above it is left out, and so
// is one whose elements are single leaves. Leaves are called thread if two of
// them share a core, else core. On a virtual machine of two cores there is
// often only the machine left.
//
// On Linux it reads what the kernel says of CPUs that are online, that the
// affinity allows and that the cgroup's cpuset contains. Call it where no rank
// is pinned: a pinned goroutine may use one CPU, and sees one. A file that is
// missing costs its level and nothing else; one that makes no sense gives a
// [*DetectError]. Elsewhere the result is Flat(runtime.NumCPU()), without CPU
// numbers.
//
// How much CPU time the process may have (a cgroup's quota) is not looked at:
// it does not move one CPU nearer to another.
func Detect() (*Tree, error) { return detectHost() }
