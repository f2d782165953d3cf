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
