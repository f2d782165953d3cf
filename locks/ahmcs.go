package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// ahmcs is AHMCS, the adaptive HMCS of Chabbi and Mellor-Crummey, PPoPP'16 (Uffmann 2022,
// §5.5): the tree of queues of hmcs.go, which a rank may enter at any level. It stands there
// with a node of its own, among the nodes of elements, and leaves out the levels below.
//
//	level 1        machine ◀─ tail     nodes of elements of level 2, and of ranks
//	level 2    rack ◀─ tail    rack    nodes of elements of level 3, and of ranks
//	level N    node ◀─ tail    node    nodes of ranks
//
// A rank has a tree for each level at which it may enter: the levels above are the same
// queues for all. Two rules choose one:
//
//   - Hysteresis. If the rank has found a predecessor where it entered, and leaves a
//     successor there, it enters one level below the next time; if neither, one above.
//   - The short cut. If the queue where it would enter is empty, and the root's is, too, the
//     rank enters the root. This changes the level of the next time in no way. So the first
//     rank after a storm does not climb all levels.
//
// At first a rank enters at the finest level, as in HMCS.
//
// Where processors have hardware transactional memory, the original takes the short cut
// without the root's queue: it executes the section as a transaction that reads the root's
// tail, and enters the tree if the transaction aborts. A window has no transactions.
//
// Invariant, memory order: hmcs's. A rank that holds a queue holds it with one node, its own
// or an element's, so the tree does not care who stands in it. The lock is free if and only
// if the root's queue is empty.
//
// Fairness: FIFO inside a queue, where an element counts once, with at most T_L,i acquisitions
// in a row inside it, and each rank that enters there counts once.
//
// Cost, away from home: a look at two tails, a swap of the root's tail and a CAS if the lock
// is free, and no look if the rank enters at the root. In contention what hmcs takes.
type ahmcs struct {
	side
	trees []tree // trees[k] enters at level k+1
	enter int    // the one to enter next
	now   int    // the one in which the rank holds the lock
	found bool   // it found a predecessor where it entered
}

func newAHMCS(lock *Lock, w rma.Window) Mutex {
	l := padded(ahmcs{})
	l.init(lock, w)
	levels := allLevels(l.topo)
	for k := range levels {
		t := newTree(&l.side, levels[:k+1], 0)
		for i := range t.levels {
			t.levels[i].secondBase = levelWords*len(levels) + nodeWords*i
		}
		if k+1 < len(levels) {
			t.levels[k].own(t.levels[k].name | second)
		}
		l.trees = append(l.trees, t)
	}
	l.enter = len(levels) - 1
	return l
}

func wordsOfAHMCS(t *topology.Tree, _ Options) Words {
	return Words{Rank: (levelWords + nodeWords) * t.Levels()}
}

// last is the queue where the rank enters tree k.
func (l *ahmcs) last(k int) *level { return &l.trees[k].levels[k] }

// Acquire implements Mutex.
func (l *ahmcs) Acquire(ctx context.Context) error {
	if err := l.arrive(ctx); err != nil {
		return err
	}
	l.now = l.enter
	if l.now > 0 && l.last(l.now).tail.Load() == 0 && l.last(0).tail.Load() == 0 {
		l.now = 0
	}
	e, err := l.trees[l.now].enter(ctx)
	if err != nil {
		return err
	}
	l.found = e.waited
	if l.now == 0 && len(l.trees) > 1 {
		e.upper, e.waited = true, false
	}
	l.came(writing, e)
	return nil
}

// TryAcquire implements Tryer. It enters the root wherever Acquire would enter: the lock is free if and only if the
// root's queue is empty. So a try says nothing about contention, and Release leaves the level of the next time as it
// is, unless that is the root.
func (l *ahmcs) TryAcquire() bool {
	if l.begin(forever()) != nil || !l.trees[0].tryEnter() {
		return false
	}
	l.now, l.found = 0, false
	return l.tried(writing, true)
}

// Release implements Mutex.
func (l *ahmcs) Release() {
	if !l.end(writing) {
		return
	}
	if l.now == l.enter {
		l.adapt(!l.last(l.now).alone())
	}
	if t := &l.trees[l.now]; !t.pass() {
		t.leave(granted)
	}
}

// adapt is the hysteresis.
func (l *ahmcs) adapt(leaves bool) {
	switch {
	case l.found && leaves:
		l.enter = min(l.enter+1, len(l.trees)-1)
	case !l.found && !leaves:
		l.enter = max(l.enter-1, 0)
	}
}

// Alone implements Cohort.
func (l *ahmcs) Alone() bool { return l.trees[l.now].alone() }
