package topology

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
)

// detectable are the levels that a detected machine may have, from coarse to
// fine.
var detectable = [...]string{"socket", "numa", "cache", "core"}

// location says in which socket, numa node, cache and core a CPU is. The
// numbers mean something only in comparison: equal or not, and for the order.
type location struct {
	cpu    int
	inside [len(detectable)]int
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
	var cpus []location
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
	return assemble(cpus), nil
}

// locate reads where one CPU is.
func (h host) locate(cpu, node int) (location, error) {
	dir := fmt.Sprintf("%s/cpu%d", cpuDir, cpu)
	socket, found, err := h.number(dir + "/topology/physical_package_id")
	if err != nil {
		return location{}, err
	}
	if !found {
		socket = unknown
	}
	cache, err := h.lastCache(dir)
	if err != nil {
		return location{}, err
	}
	// A core is known by its first thread: core_id repeats from die to die.
	siblings, err := h.list(dir + "/topology/thread_siblings_list")
	if err != nil {
		return location{}, err
	}
	return location{cpu, [...]int{socket, node, cache, siblings.first(cpu)}}, nil
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

// assemble makes a tree out of CPUs and where they are, which need not nest: a
// memory node may span sockets or lie inside a cache. An element is what agrees
// in a level and in all above it, and what then says nothing new goes.
func assemble(cpus []location) *Tree {
	slices.SortFunc(cpus, func(a, b location) int {
		return cmp.Or(slices.Compare(a.inside[:], b.inside[:]), cmp.Compare(a.cpu, b.cpu))
	})
	numbers := make([]int, len(cpus))
	for p, at := range cpus {
		numbers[p] = at.cpu
	}
	t := newMachine(len(cpus), "thread", numbers)
	for i, name := range detectable {
		first := []Rank{0}
		for p := 1; p < len(cpus); p++ {
			if !slices.Equal(cpus[p-1].inside[:i+1], cpus[p].inside[:i+1]) {
				first = append(first, Rank(p))
			}
		}
		if name == "core" && len(first) == len(cpus) {
			t.leaf = name
		}
		above := t.levels[len(t.levels)-1]
		if len(first) > above.elements() && len(first) < len(cpus) {
			t.levels = append(t.levels, newLevel(name, first, len(cpus)))
		}
	}
	return t
}
