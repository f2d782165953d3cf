package topology

import "slices"

// Rank is one place of execution, 0..P-1. It is a leaf of a Tree.
type Rank int

// MaxRanks limits the ranks of a Tree. No run needs as many, and a typing error
// in a description cannot use up the memory.
const MaxRanks = 1 << 20

// Tree is a machine with ranks as its leaves. Make one with Flat, Parse, FromCPUs
// or host.Detect; the zero Tree has no levels and does not work. A Tree is
// immutable: copy the pointer, and use it from any number of goroutines.
type Tree struct {
	levels []level // levels[i-1] is level i
	ranks  int
	leaf   string // the name of a leaf
	cpus   []int  // by rank; nil if the CPUs are not known
}

// level holds the elements of one level. Locks ask in both directions in every
// operation, and elements may differ in size, so each direction has a table.
type level struct {
	name      string
	elementOf []int32 // by rank
	first     []Rank  // by element; the last entry is the number of ranks
}

// levelNames lists all names of levels, from coarse to fine.
var levelNames = [...]string{
	"machine", "group", "rack", "node", "socket", "numa", "cache", "core", "thread", "rank",
}

// grain returns the index of a name in levelNames, or -1. A finer level has a
// larger grain.
func grain(name string) int {
	for i, known := range levelNames {
		if name == known {
			return i
		}
	}
	return -1
}

// Ranks returns P, the number of leaves.
func (t *Tree) Ranks() int { return t.ranks }

// Levels returns N, the number of levels.
func (t *Tree) Levels() int { return len(t.levels) }

// LevelName returns the name of level i, 1..N. For N+1 it returns the name of the
// leaves, so that every result of Common has a name. It panics for any other i.
func (t *Tree) LevelName(i int) string {
	if i == len(t.levels)+1 {
		return t.leaf
	}
	return t.level("LevelName", i).name
}

// Elements returns N_i, the number of elements of level i. It panics unless i is
// 1..N.
func (t *Tree) Elements(i int) int { return t.level("Elements", i).elements() }

// CPU returns the CPU of rank p, as the operating system of p's node numbers it.
// ok is false if the tree has no CPU numbers. It panics unless p is a rank.
func (t *Tree) CPU(p Rank) (cpu int, ok bool) {
	t.checkRank("CPU", p)
	if t.cpus == nil {
		return 0, false
	}
	return t.cpus[p], true
}

// Equal reports whether t and u have the same levels, with the same names and the
// same ranks in each element, and the same name for leaves. Two trees are equal
// if and only if their Strings are.
//
// Equal ignores CPU numbers: all nodes of a run have to agree on the tree, but
// each numbers its CPUs in its own way.
func (t *Tree) Equal(u *Tree) bool {
	return t.ranks == u.ranks && t.leaf == u.leaf &&
		slices.EqualFunc(t.levels, u.levels, func(a, b level) bool {
			return a.name == b.name && slices.Equal(a.first, b.first)
		})
}

func (l *level) elements() int { return len(l.first) - 1 }

// level returns level i. It panics with the method's name if there is no such
// level.
func (t *Tree) level(method string, i int) *level {
	if uint(i-1) >= uint(len(t.levels)) {
		panic(&RangeError{Method: method, What: "level", Value: i, Low: 1, High: len(t.levels)})
	}
	return &t.levels[i-1]
}

// children returns the elements of level i+1 inside element j of level i, or its
// ranks if i is N, as a half-open interval.
func (t *Tree) children(i, j int) (from, to int) {
	first, last := t.levels[i-1].first[j], t.levels[i-1].first[j+1]-1
	if i == len(t.levels) {
		return int(first), int(last) + 1
	}
	finer := t.levels[i].elementOf
	return int(finer[first]), int(finer[last]) + 1
}
