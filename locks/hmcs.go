package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/topology"
)

// hmcs is the hierarchical MCS lock for any number of levels (Chabbi, Fagan,
// Mellor-Crummey, PPoPP'15), in its form on windows: RMA-MCS of Schmid, Besta
// and Hoefler, HPDC'16, §3.5, is hmcs on the levels 1 and N.
//
// See tree for the structure. The root is a plain queue: any grant there means:
// go on.
//
// Invariant: whoever holds the root's queue, or was passed the lock below
// somebody who did, holds the lock.
//
// Fairness: FIFO inside a queue; at most T_L,i acquisitions in a row inside an
// element of level i >= 2 while another element waits, so that a rank is
// overtaken at most T_L,2 * ... * T_L,N times per element that is before its own.
//
// Cost, away from home: the finest queues are near; one swap of the root's tail
// and one CAS, and what mcs takes more where elements contend.
type hmcs struct {
	seat
	t tree
}

// newHMCS is the lock for a rank, on all levels, or on the first and the last.
func newHMCS(levels func(*topology.Tree) []int) func(seat) Mutex {
	return func(s seat) Mutex {
		l := &hmcs{seat: s}
		l.t = newTree(&l.seat, levels(l.tree), 0)
		return l
	}
}

// allLevels are the levels of a tree, from coarse to fine.
func allLevels(t *topology.Tree) []int {
	levels := make([]int, t.Levels())
	for k := range levels {
		levels[k] = k + 1
	}
	return levels
}

// twoLevels are the machine and its finest elements.
func twoLevels(t *topology.Tree) []int {
	if t.Levels() == 1 {
		return []int{1}
	}
	return []int{1, t.Levels()}
}

func wordsOfHMCS(levels func(*topology.Tree) []int) func(*topology.Tree, Options) Words {
	return func(t *topology.Tree, _ Options) Words { return Words{Rank: levelWords * len(levels(t))} }
}

// Acquire implements Mutex.
func (l *hmcs) Acquire(ctx context.Context) error {
	if l.gave || !l.ready(ctx) {
		if err := l.arrive(ctx); err != nil {
			return err
		}
	}
	_, _, first, err := l.t.enter(ctx)
	if err != nil {
		return err
	}
	if first {
		l.acquired(alone)
	} else {
		l.acquired(writing)
	}
	return nil
}

// TryAcquire implements Tryer.
func (l *hmcs) TryAcquire() bool {
	if l.begin(context.Background()) != nil || !l.t.tryEnter() {
		return false
	}
	l.acquired(writing)
	return true
}

// Release implements Mutex.
func (l *hmcs) Release() {
	if l.held == alone {
		l.end(alone)
		if l.t.vacate() {
			return
		}
		l.t.first(-1)
	} else {
		l.end(writing)
	}
	if !l.t.pass() {
		l.t.leave(granted)
	}
}

// Alone implements Cohort.
func (l *hmcs) Alone() bool { return l.t.alone() }
