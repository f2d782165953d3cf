package host

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"

	"github.com/orwl/go-orwl/net/topology"
)

// Detect returns the tree of the machine that it runs on, with one leaf for every
// CPU (hardware thread) that the calling thread may use. The leaves carry the
// numbers of their CPUs. The levels below the machine are socket, numa, cache and
// core, as far as they group CPUs; [topology.FromCPUs] gives the rule. A virtual
// machine with two cores often has no level below the machine.
//
// On Linux, Detect uses the CPUs that are online, that the affinity of the thread
// allows, and that the cpuset of the cgroup contains. It reads what the kernel
// says about them. If a file is missing, the tree lacks that level. If Detect
// cannot understand a file, it returns a [*DetectError]. Call Detect before you
// pin: a pinned goroutine sees one CPU only.
//
// On other systems, Detect returns topology.Flat(runtime.NumCPU()), which has no
// CPU numbers.
//
// Detect ignores the quota of the cgroup, which limits CPU time and not CPUs.
func Detect() (*topology.Tree, error) { return detectHere() }

// DetectError reports a machine that Detect cannot describe.
type DetectError struct {
	File string // the file with the bad content; empty if no file is to blame
	Why  string
}

func (e *DetectError) Error() string {
	message := "host: cannot detect this machine: "
	if e.File != "" {
		message += e.File + ": "
	}
	return message + e.Why + `: describe the machine instead, as in topology.Parse("socket:2 core:8")`
}

// unknown is the number of a socket, NUMA node or cache that no file mentions. All
// CPUs without a number get this one, so that they are together in one element.
const unknown = -1

// detect builds the tree of a machine from its files. allowed is the affinity, or
// nil if it is not known.
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

// locate reads the socket, the cache and the core of a CPU. node is its NUMA node.
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
	// The first thread identifies a core. core_id does not: dies repeat it.
	siblings, err := m.list(dir + "/topology/thread_siblings_list")
	if err != nil {
		return topology.CPU{}, err
	}
	return topology.CPU{Number: cpu, Socket: socket, NUMA: node, Cache: cache, Core: siblings.first(cpu)}, nil
}

// lastCache identifies the last-level cache of a CPU by the first CPU that shares
// it. It ignores the type of a cache, because the last level is never a cache of
// instructions only.
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

// numaNodes returns the NUMA node of each CPU.
func (m machine) numaNodes() (nodeOf map[int]int, err error) {
	lists, err := fs.Glob(m.files, "sys/devices/system/node/node[0-9]*/cpulist")
	if err != nil {
		return nil, err // only for a malformed pattern
	}
	nodeOf = map[int]int{}
	for _, path := range lists {
		var node int
		if _, err := fmt.Sscanf(path, "sys/devices/system/node/node%d/", &node); err != nil {
			continue // not a node, but the name begins like one
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

// Pin binds the calling goroutine to its thread, and the thread to the CPU of rank
// p in t, until unpin. It panics with a [*topology.RangeError] unless p is a rank.
//
// Pin only ranks that compute for long between hand-overs. Pinned goroutines wake
// each other through the kernel: a hand-over took 43–99 µs, and 0.5 µs without
// pinning.
//
// If the thread may not use the CPU now, or if the kernel refuses, Pin changes
// nothing and returns a [*PinError]. If t has no CPU numbers, the error matches
// [ErrNoCPU].
//
// The same goroutine must call unpin; a call from another goroutine panics. unpin
// restores the affinity that the thread had before Pin. Later calls do nothing. If
// the kernel refuses to restore it, the goroutine stays bound to its thread, so
// that the thread ends with the goroutine and no other goroutine gets it. Pins may
// nest: undo them in reverse order.
func Pin(t *topology.Tree, p topology.Rank) (unpin func(), err error) {
	cpu, ok := t.CPU(p)
	if !ok {
		return nil, fmt.Errorf("host: rank %d cannot be pinned: %w", p, ErrNoCPU)
	}
	runtime.LockOSThread()
	restore, err := pinThread(p, cpu)
	if err != nil {
		runtime.UnlockOSThread()
		return nil, err
	}
	undone := false
	return func() {
		if undone {
			return
		}
		if restore() {
			runtime.UnlockOSThread()
		}
		undone = true
	}, nil
}

// ErrNoCPU means that a tree has no CPU numbers: it comes from a description, or
// the operating system does not tell them. Match errors of Pin with it.
var ErrNoCPU = errors.New("the tree has no CPU numbers: take it from host.Detect on Linux, or do not pin")

// PinError reports a rank that Pin cannot bind to its CPU.
type PinError struct {
	Rank    topology.Rank
	CPU     int
	Allowed string // the CPUs that the thread may use, as in 0-3,8; empty if unknown
	Err     error  // from the operating system; nil if Pin did not ask it
}

func (e *PinError) Error() string {
	message := fmt.Sprintf("host: rank %d cannot be pinned to CPU %d", e.Rank, e.CPU)
	if e.Allowed != "" {
		message += fmt.Sprintf(": the thread may use only CPUs %s", e.Allowed)
	}
	if e.Err != nil {
		message += fmt.Sprintf(": %v", e.Err)
	}
	return message + ": widen the affinity or the cpuset of the process, unpin the rank that this goroutine pinned before," +
		" or call host.Detect again for the CPUs that are left"
}

// Unwrap returns Err.
func (e *PinError) Unwrap() error { return e.Err }
