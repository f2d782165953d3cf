package topology

import (
	"fmt"
	"io/fs"
)

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

// DetectError is a machine that Detect could not make out.
type DetectError struct {
	File string // the file that makes no sense, or empty
	Why  string
}

func (e *DetectError) Error() string {
	message := "topology: cannot detect this machine: "
	if e.File != "" {
		message += e.File + ": "
	}
	return message + e.Why + `: describe it instead, as in topology.Parse("socket:2 core:8")`
}

// unknown is the number of a thing that no file tells about. CPUs of which
// that is so are taken to be together in it, so that it makes no level.
const unknown = -1

// detect builds the tree of a machine from its files. allowed is the affinity,
// nil if unknown.
func detect(files fs.FS, allowed cpuSet) (*Tree, error) {
	h := host{files}
	usable, err := h.usable(allowed)
	if err != nil {
		return nil, err
	}
	nodeOf, err := h.numaNodes()
	if err != nil {
		return nil, err
	}
	var cpus []CPU
	for cpu := range usable.all {
		node, known := nodeOf[cpu]
		if !known {
			node = unknown
		}
		at, err := h.locate(cpu, node)
		if err != nil {
			return nil, err
		}
		cpus = append(cpus, at)
	}
	return FromCPUs(cpus), nil
}

// locate reads where one CPU is.
func (h host) locate(cpu, node int) (CPU, error) {
	dir := fmt.Sprintf("%s/cpu%d", cpuDir, cpu)
	socket, found, err := h.number(dir + "/topology/physical_package_id")
	if err != nil {
		return CPU{}, err
	}
	if !found {
		socket = unknown
	}
	cache, err := h.lastCache(dir)
	if err != nil {
		return CPU{}, err
	}
	// A core is known by its first thread: core_id repeats from die to die.
	siblings, err := h.list(dir + "/topology/thread_siblings_list")
	if err != nil {
		return CPU{}, err
	}
	return CPU{cpu, socket, node, cache, siblings.first(cpu)}, nil
}

// lastCache identifies the outermost cache of a CPU by the first of those that
// share it. Kinds need no regard: no cache of instructions is outermost.
func (h host) lastCache(dir string) (int, error) {
	id, outermost := unknown, 0
	for index := 0; ; index++ {
		cache := fmt.Sprintf("%s/cache/index%d", dir, index)
		level, found, err := h.number(cache + "/level")
		if err != nil || !found {
			return id, err
		}
		if level <= outermost {
			continue
		}
		sharers, err := h.list(cache + "/shared_cpu_list")
		if err != nil {
			return id, err
		}
		if sharers != nil {
			id, outermost = sharers.first(unknown), level
		}
	}
}

// numaNodes says in which memory node each CPU is.
func (h host) numaNodes() (nodeOf map[int]int, err error) {
	lists, err := fs.Glob(h.files, "sys/devices/system/node/node[0-9]*/cpulist")
	if err != nil {
		return nil, err // only for a malformed pattern
	}
	nodeOf = map[int]int{}
	for _, path := range lists {
		var node int
		if _, err := fmt.Sscanf(path, "sys/devices/system/node/node%d/", &node); err != nil {
			continue // a name that only begins like a node's
		}
		cpus, err := h.list(path)
		if err != nil {
			return nil, err
		}
		for cpu := range cpus.all {
			nodeOf[cpu] = node
		}
	}
	return nodeOf, nil
}
