package topology

import "iter"

// The questions that locks ask. None allocates; all take constant time except
// Common, which looks at each level once.

// Element is e(p, i): the element of level i, 0..Elements(i)-1, in which rank p
// lives (§3.2.2). It panics unless p is a rank and i is 1..N.
func (t *Tree) Element(p Rank, i int) int {
	if uint(i-1) >= uint(len(t.levels)) || uint(p) >= uint(t.ranks) {
		t.refuse("Element", p, i)
	}
	return int(t.levels[i-1].elementOf[p])
}

// TailRank is tail_rank[i, j]: the rank that keeps the tail of the queue of
// element j of level i (§3.2.3). It panics unless i is 1..N and j an element.
//
// It is the first rank of the element. Any rank would do that every member can
// name without asking: this one lives in the element, so that members reach the
// tail without leaving it, and it follows from the tree alone. The price is that
// rank 0 keeps a tail on every level.
func (t *Tree) TailRank(i, j int) Rank {
	if uint(i-1) >= uint(len(t.levels)) || uint(j) >= uint(t.levels[i-1].elements()) {
		t.refuseElement("TailRank", i, j)
	}
	return t.levels[i-1].first[j]
}

// Members returns the ranks of element j of level i, which are first to
// first+n-1. It panics unless i is 1..N and j an element.
func (t *Tree) Members(i, j int) (first Rank, n int) {
	if uint(i-1) >= uint(len(t.levels)) || uint(j) >= uint(t.levels[i-1].elements()) {
		t.refuseElement("Members", i, j)
	}
	bounds := t.levels[i-1].first
	return bounds[j], int(bounds[j+1] - bounds[j])
}

// Common is the finest level at which a and b share an element: N if they are
// neighbours in the finest element, 1 if only the machine joins them, and N+1
// if a is b. It panics unless both are ranks.
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

// Counter is c(p): the rank that keeps the physical counter of rank p when
// every tdc-th rank keeps one (§3.2.1; ranks from 0, so p - p%tdc). With tdc a
// multiple of the ranks of a node, there is one counter every so many nodes,
// and a reader's counter is as near as that. It panics unless p is a rank and
// tdc at least 1.
func (t *Tree) Counter(p Rank, tdc int) Rank {
	if tdc < 1 || uint(p) >= uint(t.ranks) {
		t.checkInterval("Counter", tdc)
		t.checkRank("Counter", p)
	}
	return p - p%Rank(tdc)
}

// Counters yields every rank that keeps a physical counter, in ascending order:
// what a writer has to visit. It panics unless tdc is at least 1.
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

// checkInterval has no upper bound: a tdc beyond P means one counter for all.
func (t *Tree) checkInterval(method string, tdc int) {
	if tdc < 1 {
		panic(&RangeError{Method: method, What: "tdc", Value: tdc, Low: 1, High: unbounded})
	}
}

// refuse panics over a level or a rank, whichever is wrong. It stands apart so
// that putting the message together does not weigh on every call.
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
