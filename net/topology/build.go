package topology

import (
	"cmp"
	"slices"
)

// newLevel makes a level out of the first rank of each element, which says
// everything about it since elements are contiguous.
func newLevel(name string, first []Rank, ranks int) level {
	elementOf := make([]int32, ranks)
	bounds := append(first, Rank(ranks))
	for j := range first {
		for p := bounds[j]; p < bounds[j+1]; p++ {
			elementOf[p] = int32(j)
		}
	}
	return level{name: name, elementOf: elementOf, first: bounds}
}

// newMachine is a tree of level 1 alone, to which finer levels are appended.
func newMachine(ranks int, leaf string, cpus []int) *Tree {
	machine := newLevel(levelNames[0], []Rank{0}, ranks)
	return &Tree{levels: []level{machine}, ranks: ranks, leaf: leaf, cpus: cpus}
}

// Flat returns the tree of one level, the machine, with the given number of
// ranks in it. It panics unless that is 1..MaxRanks.
func Flat(ranks int) *Tree {
	if ranks < 1 || ranks > MaxRanks {
		panic(&RangeError{Method: "Flat", What: "number of ranks", Value: ranks, Low: 1, High: MaxRanks})
	}
	return newMachine(ranks, "rank", nil)
}

// CPU is one hardware thread and what it belongs to. Two CPUs share a socket,
// NUMA node, cache or core if they have the same number there. If a number is
// not known, give all CPUs the same one, for instance -1.
type CPU struct {
	Number int // the operating system's number for it; Tree.CPU returns it
	Socket int
	NUMA   int // memory node
	Cache  int // the last level
	Core   int
}

// cpuLevels are the levels that FromCPUs may make, from coarse to fine.
var cpuLevels = [...]string{"socket", "numa", "cache", "core"}

func (c CPU) inside() [len(cpuLevels)]int {
	return [...]int{c.Socket, c.NUMA, c.Cache, c.Core}
}

// FromCPUs returns the tree of a machine with these CPUs, one rank on each. Its
// levels are those of socket, numa, cache and core that group CPUs: FromCPUs
// leaves out a level that has the same elements as the one above it, and one in
// which every element is a single CPU. Leaves are called thread if two of them
// share a core, else core. Ranks follow the numbers of their sockets, then of
// their NUMA nodes, caches and cores, then their own.
//
// Real machines need not nest: a memory node may span sockets or lie inside a
// cache. So two CPUs are in one element of a level if they have the same number
// there and in every level above it.
//
// FromCPUs does not change or keep the slice. It panics unless there are
// 1..MaxRanks CPUs.
func FromCPUs(cpus []CPU) *Tree {
	if len(cpus) < 1 || len(cpus) > MaxRanks {
		panic(&RangeError{Method: "FromCPUs", What: "number of CPUs", Value: len(cpus), Low: 1, High: MaxRanks})
	}
	cpus = slices.Clone(cpus)
	slices.SortFunc(cpus, func(a, b CPU) int {
		x, y := a.inside(), b.inside()
		return cmp.Or(slices.Compare(x[:], y[:]), cmp.Compare(a.Number, b.Number))
	})
	numbers := make([]int, len(cpus))
	for p, c := range cpus {
		numbers[p] = c.Number
	}
	t := newMachine(len(cpus), "thread", numbers)
	for i, name := range cpuLevels {
		first := []Rank{0}
		for p := 1; p < len(cpus); p++ {
			before, here := cpus[p-1].inside(), cpus[p].inside()
			if !slices.Equal(before[:i+1], here[:i+1]) {
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

// tree builds what a description says, from the leaves up: where an element
// begins is where the first of its parts begins.
func (d *description) tree() *Tree {
	n := len(d.words)
	leaves := d.words[n-1]
	t := newMachine(leaves.total, leaves.name, nil)
	t.levels = append(t.levels, make([]level, n-1)...)
	var parts []Rank // first ranks of the level below; nil while that is the ranks
	for k := n - 1; k > 0; k-- {
		parts = begins(d.words[k].runs, parts)
		t.levels[k] = newLevel(d.words[k-1].name, parts, t.ranks)
	}
	return t
}

// begins returns the first rank of every element, given how many parts each has
// and the first rank of every part.
func begins(counts []run, parts []Rank) (first []Rank) {
	part := 0
	for _, r := range counts {
		for range r.times {
			if parts == nil {
				first = append(first, Rank(part))
			} else {
				first = append(first, parts[part])
			}
			part += r.value
		}
	}
	return first
}
