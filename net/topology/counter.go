package topology

import "iter"

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
