package topology

import "iter"

// Locks call these methods in every operation. None of them allocates. Each takes
// constant time, except Common, which looks at each level at most once.

// Element returns e(p, i), the element of level i that holds rank p (§3.2.2). It
// is one of 0..Elements(i)-1. Element panics unless p is a rank and i is 1..N.
func (t *Tree) Element(p Rank, i int) int {
	if uint(i-1) >= uint(len(t.levels)) || uint(p) >= uint(t.ranks) {
		t.refuse("Element", p, i)
	}
	return int(t.levels[i-1].elementOf[p])
}

// TailRank returns tail_rank[i, j], the rank that stores the tail of the queue of
// element j of level i (§3.2.3). It panics unless i is 1..N and j an element.
//
// TailRank is the first rank of the element. Every member can compute it from the
// tree alone, and reaches the tail without leaving the element. The price: rank 0
// stores a tail for every level.
func (t *Tree) TailRank(i, j int) Rank {
	if uint(i-1) >= uint(len(t.levels)) || uint(j) >= uint(t.levels[i-1].elements()) {
		t.refuseElement("TailRank", i, j)
	}
	return t.levels[i-1].first[j]
}

// Members returns the ranks of element j of level i: first to first+n-1. It
// panics unless i is 1..N and j an element.
func (t *Tree) Members(i, j int) (first Rank, n int) {
	if uint(i-1) >= uint(len(t.levels)) || uint(j) >= uint(t.levels[i-1].elements()) {
		t.refuseElement("Members", i, j)
	}
	bounds := t.levels[i-1].first
	return bounds[j], int(bounds[j+1] - bounds[j])
}

// Common returns the finest level at which a and b share an element: N if they
// share one of the finest elements, 1 if they share only the machine, and N+1 if
// a equals b. It panics unless both are ranks.
func (t *Tree) Common(a, b Rank) int {
	if uint(a) >= uint(t.ranks) || uint(b) >= uint(t.ranks) {
		t.checkRank("Common", a)
		t.checkRank("Common", b)
	}
	i := len(t.levels)
	if a == b {
		return i + 1
	}
	for i > 1 && t.levels[i-1].elementOf[a] != t.levels[i-1].elementOf[b] {
		i--
	}
	return i
}

// Counter returns c(p), the rank that stores the physical counter of rank p if
// every tdc-th rank stores one (§3.2.1). Ranks count from 0, so this is p - p%tdc.
// If tdc is k times the ranks of a node, every k-th node has a counter. Counter
// panics unless p is a rank and tdc at least 1.
func (t *Tree) Counter(p Rank, tdc int) Rank {
	if tdc < 1 || uint(p) >= uint(t.ranks) {
		t.checkInterval("Counter", tdc)
		t.checkRank("Counter", p)
	}
	return p - p%Rank(tdc)
}

// Counters yields every rank that stores a physical counter, in ascending order. A
// writer visits all of them. It panics unless tdc is at least 1.
func (t *Tree) Counters(tdc int) iter.Seq[Rank] {
	t.checkInterval("Counters", tdc)
	return func(yield func(Rank) bool) {
		for p := Rank(0); int(p) < t.ranks; p += Rank(tdc) {
			if !yield(p) {
				return
			}
		}
	}
}

// checkInterval has no upper bound: if tdc exceeds P, all ranks share one counter.
func (t *Tree) checkInterval(method string, tdc int) {
	if tdc < 1 {
		panic(&RangeError{Method: method, What: "tdc", Value: tdc, Low: 1, High: unbounded})
	}
}

// refuse panics because a level or a rank is out of range. It is a separate
// function so that Element is small and fast.
func (t *Tree) refuse(method string, p Rank, i int) {
	t.level(method, i)
	t.checkRank(method, p)
}

func (t *Tree) refuseElement(method string, i, j int) {
	high := t.level(method, i).elements() - 1
	panic(&RangeError{Method: method, What: "element of level " + t.levels[i-1].name, Value: j, High: high})
}

func (t *Tree) checkRank(method string, p Rank) {
	if uint(p) >= uint(t.ranks) {
		panic(&RangeError{Method: method, What: "rank", Value: int(p), High: t.ranks - 1})
	}
}
