package host

import (
	"fmt"
	"io/fs"

	"github.com/orwl/go-orwl/net/topology"
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
// [*DetectError]. Elsewhere the result is topology.Flat(runtime.NumCPU()), without CPU
// numbers.
//
// How much CPU time the process may have (a cgroup's quota) is not looked at:
// it does not move one CPU nearer to another.
func Detect() (*topology.Tree, error) { return detectHere() }

// DetectError is a machine that Detect could not make out.
type DetectError struct {
	File string // the file that makes no sense, or empty
	Why  string
}

func (e *DetectError) Error() string {
	message := "host: cannot detect this machine: "
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
func detect(files fs.FS, allowed cpuSet) (*topology.Tree, error) {
	m := machine{files}
	usable, err := m.usable(allowed)
	if err != nil {
		return nil, err
	}
	nodeOf, err := m.numaNodes()
	if err != nil {
		return nil, err
	}
	var cpus []topology.CPU
	for cpu := range usable.all {
		node, known := nodeOf[cpu]
		if !known {
			node = unknown
		}
		at, err := m.locate(cpu, node)
		if err != nil {
			return nil, err
		}
		cpus = append(cpus, at)
	}
	return topology.FromCPUs(cpus), nil
}

// locate reads where one CPU is.
func (m machine) locate(cpu, node int) (topology.CPU, error) {
	dir := fmt.Sprintf("%s/cpu%d", cpuDir, cpu)
	socket, found, err := m.number(dir + "/topology/physical_package_id")
	if err != nil {
		return topology.CPU{}, err
	}
	if !found {
		socket = unknown
	}
	cache, err := m.lastCache(dir)
	if err != nil {
		return topology.CPU{}, err
	}
	// A core is known by its first thread: core_id repeats from die to die.
	siblings, err := m.list(dir + "/topology/thread_siblings_list")
	if err != nil {
		return topology.CPU{}, err
	}
	return topology.CPU{Number: cpu, Socket: socket, NUMA: node, Cache: cache, Core: siblings.first(cpu)}, nil
}

// lastCache identifies the outermost cache of a CPU by the first of those that
// share it. Kinds need no regard: no cache of instructions is outermost.
func (m machine) lastCache(dir string) (int, error) {
	id, outermost := unknown, 0
	for index := 0; ; index++ {
		cache := fmt.Sprintf("%s/cache/index%d", dir, index)
		level, found, err := m.number(cache + "/level")
		if err != nil || !found {
			return id, err
		}
		if level <= outermost {
			continue
		}
		sharers, err := m.list(cache + "/shared_cpu_list")
		if err != nil {
			return id, err
		}
		if sharers != nil {
			id, outermost = sharers.first(unknown), level
		}
	}
}

// numaNodes says in which memory node each CPU is.
func (m machine) numaNodes() (nodeOf map[int]int, err error) {
	lists, err := fs.Glob(m.files, "sys/devices/system/node/node[0-9]*/cpulist")
	if err != nil {
		return nil, err // only for a malformed pattern
	}
	nodeOf = map[int]int{}
	for _, path := range lists {
		var node int
		if _, err := fmt.Sscanf(path, "sys/devices/system/node/node%d/", &node); err != nil {
			continue // a name that only begins like a node's
		}
		cpus, err := m.list(path)
		if err != nil {
			return nil, err
		}
		for cpu := range cpus.all {
			nodeOf[cpu] = node
		}
	}
	return nodeOf, nil
}
