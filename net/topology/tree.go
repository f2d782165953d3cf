package topology

import "slices"

// Rank is a place of execution, 0..P-1: a leaf of a Tree.
type Rank int

// MaxRanks is the most ranks that a Tree may have. It is far beyond any run,
// and small enough that a slip in a description cannot ask for all memory.
const MaxRanks = 1 << 20

// Tree is a machine whose leaves are ranks. Make one with Flat, Parse or
// FromCPUs, or take that of the machine at hand from host.Detect; the zero Tree has no levels and is of no use. A Tree is immutable and
// safe for concurrent use.
type Tree struct {
	levels []level // levels[i-1] is level i
	ranks  int
	leaf   string // what one leaf is called
	cpus   []int  // by rank; nil if the CPUs are not known
}

// level holds the elements of one level. Both directions are tables, because a
// lock asks for them in every operation and a machine need not be regular.
type level struct {
	name      string
	elementOf []int32 // by rank
	first     []Rank  // by element, and one more: the number of ranks
}

// levelNames are all names of levels, from coarse to fine; the place in the
// list is the order.
var levelNames = [...]string{
	"machine", "group", "rack", "node", "socket", "numa", "cache", "core", "thread", "rank",
}

// grain is the place of a name in levelNames, greater for finer, or -1.
func grain(name string) int {
	for i, known := range levelNames {
		if name == known {
			return i
		}
	}
	return -1
}

// Ranks is P, the number of leaves.
func (t *Tree) Ranks() int { return t.ranks }

// Levels is N, the number of levels.
func (t *Tree) Levels() int { return len(t.levels) }

// LevelName names level i, 1..N; N+1 is the name of the leaves, so that every
// result of Common has a name. It panics for any other i.
func (t *Tree) LevelName(i int) string {
	if i == len(t.levels)+1 {
		return t.leaf
	}
	return t.level("LevelName", i).name
}

// Elements is N_i, the number of elements of level i. It panics unless i is
// 1..N.
func (t *Tree) Elements(i int) int { return t.level("Elements", i).elements() }

// CPU is the number of the CPU that rank p belongs on, in the numbering of the
// machine that p runs on; ok is false if it is not known. It panics unless p is
// a rank.
func (t *Tree) CPU(p Rank) (cpu int, ok bool) {
	t.checkRank("CPU", p)
	if t.cpus == nil {
		return 0, false
	}
	return t.cpus[p], true
}

// Equal reports whether t and u are the same order of ranks: as many levels, of
// the same names, that group the same ranks into the same elements, and leaves
// of the same name. That is the case exactly if their String is the same.
//
// CPU numbers do not count. All nodes of a run have to agree on the tree, but
// each numbers its CPUs in its own way.
func (t *Tree) Equal(u *Tree) bool {
	return t.ranks == u.ranks && t.leaf == u.leaf &&
		slices.EqualFunc(t.levels, u.levels, func(a, b level) bool {
			return a.name == b.name && slices.Equal(a.first, b.first)
		})
}

func (l *level) elements() int { return len(l.first) - 1 }

// level returns level i, or panics in the name of a method.
func (t *Tree) level(method string, i int) *level {
	if uint(i-1) >= uint(len(t.levels)) {
		panic(&RangeError{Method: method, What: "level", Value: i, Low: 1, High: len(t.levels)})
	}
	return &t.levels[i-1]
}

// children returns what lies directly below element j of level i, as the
// half-open interval of elements of level i+1, or of ranks if i is N.
func (t *Tree) children(i, j int) (from, to int) {
	first, last := t.levels[i-1].first[j], t.levels[i-1].first[j+1]-1
	if i == len(t.levels) {
		return int(first), int(last) + 1
	}
	finer := t.levels[i].elementOf
	return int(finer[first]), int(finer[last]) + 1
}
