package topology

import (
	"cmp"
	"slices"
)

// newLevel makes a level from the first rank of each element. Elements are
// contiguous, so nothing else is needed. It may append to first.
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

// newMachine returns a tree that has level 1 only. The caller appends finer
// levels.
func newMachine(ranks int, leaf string, cpus []int) *Tree {
	machine := newLevel(levelNames[0], []Rank{0}, ranks)
	return &Tree{levels: []level{machine}, ranks: ranks, leaf: leaf, cpus: cpus}
}

// Flat returns a tree with one level, the machine, and the given number of ranks.
// It panics unless that number is 1..MaxRanks.
func Flat(ranks int) *Tree {
	if ranks < 1 || ranks > MaxRanks {
		panic(&RangeError{Method: "Flat", What: "number of ranks", Value: ranks, Low: 1, High: MaxRanks})
	}
	return newMachine(ranks, "rank", nil)
}

// CPU describes one hardware thread: its number, and the numbers of the socket,
// NUMA node, cache and core around it. Only the equality and order of the latter
// four matter. If a socket, NUMA node or cache is not known, use the same number
// for all CPUs, such as -1. If the core is not known, use Number.
type CPU struct {
	Number int // its number in the operating system; Tree.CPU returns it
	Socket int
	NUMA   int // the memory node
	Cache  int // the last-level cache
	Core   int
}

// cpuLevels are the levels that FromCPUs may make, from coarse to fine.
var cpuLevels = [...]string{"socket", "numa", "cache", "core"}

func (c CPU) inside() [len(cpuLevels)]int {
	return [...]int{c.Socket, c.NUMA, c.Cache, c.Core}
}

// FromCPUs returns the tree of a machine with the given CPUs and one rank on each.
// Ranks are sorted by socket, NUMA node, cache, core and number of their CPU.
//
// Levels below the machine are socket, numa, cache and core. FromCPUs leaves out
// a level if it has the same elements as the level above, or if each of its
// elements is a single CPU. The leaves are called thread if two of them share a
// core, and core otherwise.
//
// On some machines a memory node spans sockets or lies inside a cache. Therefore
// two CPUs are in the same element of a level only if they agree in this level
// and in all levels above it.
//
// FromCPUs does not change or keep the slice. It panics with a [*RangeError]
// unless there are 1..MaxRanks CPUs.
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

// tree builds the tree of a description, from the leaves up: an element begins
// where its first part begins.
func (d *description) tree() *Tree {
	n := len(d.words)
	leaves := d.words[n-1]
	t := newMachine(leaves.total, leaves.name, nil)
	t.levels = append(t.levels, make([]level, n-1)...)
	var parts []Rank // first ranks of the level below; nil while it consists of the ranks
	for k := n - 1; k > 0; k-- {
		parts = begins(d.words[k].runs, parts)
		t.levels[k] = newLevel(d.words[k-1].name, parts, t.ranks)
	}
	return t
}

// begins returns the first rank of every element. counts says how many parts each
// element has, and parts the first rank of every part; if parts is nil, the parts
// are ranks.
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
