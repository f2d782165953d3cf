package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// rmaRWPlus is RMA-RW+: RMA-RW with what Uffmann 2022 found for exclusive locks, and proposes
// for this one (§6):
//
//   - The leaves are Hemlocks (§5.4.4, with CTR and AH): the writers of an element of the finest
//     level N wait for a word of their neighbour. The tree above has a node for each
//     element, and the levels 1 to N-1.
//   - The entries of the own node are reached directly (§5.4.1, optimisation 4), where ranks
//     share memory: as every word of every lock here, unless Options.Operations is set.
//   - A hand-over is a Put (§3.4): no rank in the tree gives up, so that no CAS is needed.
//
// Leaves, tree and counters:
//
//	writers   leaf ─▶ tree of queues ─▶ root ─▶ bars every counter ─▶ holds
//	readers   own counter ─▶ hold
//
// A leaf's grant is climb if the tree was let go, as a cohort lock's; otherwise the number
// of acquisitions in a row in the element, plus one. A machine of one level has a leaf, and
// a tree of one queue with one node.
//
// Invariant, memory order: RMA-RW's. At most one rank of an element is in the tree. It lets
// go of the tree before the leaf.
//
// Fairness: RMA-RW's. On a machine of one level T_L,1 writers at most have the lock in a
// row before the counters are let go; with T_W that are T_W.
//
// Cost, if no rank interferes: a reader two FetchOps, at its counter. A writer the leaf's,
// the tree's, and for every counter three FetchOps. With a neighbour before and behind it,
// the leaf's.
type rmaRWPlus struct {
	rmaRW
	below side // the leaf's
	leaf  hemQueue
	tl    uint64 // T_L,N
	row   uint64 // acquisitions in a row in the element
}

// upperLevels are the levels of RMA-RW+'s tree.
func upperLevels(t *topology.Tree) []int { return allLevels(t)[:max(1, t.Levels()-1)] }

func wordsOfRMARWPlus(t *topology.Tree, _ Options) Words {
	return Words{Rank: rwLevels + levelWords*len(upperLevels(t)) + 2}
}

// newRMARWPlus is the lock for a rank. The leaf's home is the element's tail rank.
func newRMARWPlus(lock *Lock, w rma.Window) Mutex {
	l := padded(rmaRWPlus{})
	l.init(lock, w)
	n, numbers := l.topo.Levels(), upperLevels(l.topo)
	tail := l.topo.TailRank(n, l.topo.Element(l.rank, n))
	l.tree = newTree(&l.side, numbers, rwLevels)
	finest := &l.levels[len(numbers)-1]
	finest.own(uint64(tail) + 1)
	finest.shared = true
	l.initCounters()
	if l.tl = uint64(l.o.TL[n-1]); n == 1 {
		l.tl = min(l.tl, l.tw)
		l.tw /= l.tl
	}
	at := l.base.rank + rma.Disp(rwLevels+levelWords*len(numbers))
	l.initPart(&l.below, tail, base{at, at + 1})
	l.leaf = newHemQueue(&l.below, hemVariant{ctr: true, ah: true})
	return l
}

// Acquire implements Mutex.
func (l *rmaRWPlus) Acquire(ctx context.Context) error {
	if err := l.arrive(ctx); err != nil {
		return err
	}
	grant, err := l.leaf.enter(forever())
	if err != nil {
		return l.fail(err)
	}
	var e entry
	if grant > climb {
		l.inherit(grant - climb)
	} else {
		if e, err = l.rmaRW.enter(forever()); err != nil {
			return err
		}
		l.row, e.upper = 1, true
	}
	e.waited = grant != none
	l.came(writing, e)
	return nil
}

// inherit is for a rank that was passed the tree with the leaf.
func (l *rmaRWPlus) inherit(row uint64) {
	l.row, l.mine, l.top = row, false, len(l.levels)
}

// TryAcquire implements Tryer.
func (l *rmaRWPlus) TryAcquire() bool {
	if l.begin(forever()) != nil || !l.leaf.tryEnter() {
		return false
	}
	l.row = 1
	if l.tryEnter() && l.holdOrLeave(l.tryBar()) {
		return l.tried(writing, true)
	}
	l.leaf.leave(climb)
	return false
}

// Release implements Mutex.
func (l *rmaRWPlus) Release() {
	if !l.end(writing) {
		return
	}
	if l.row < l.tl && !l.leaf.alone() {
		l.counts.passed.Inc()
		l.remember(len(l.levels))
		l.leaf.leave(l.row + 1 + climb)
	} else {
		if !l.passOn() {
			l.letReadersIn()
		}
		l.leaf.leave(climb)
	}
	l.returnsAt = min(l.returnsAt, l.below.returnsAt)
	l.below.returnsAt = never
}

// AcquireRead implements RWMutex. A reader does not give up, as a writer does not.
func (l *rmaRWPlus) AcquireRead(ctx context.Context) error {
	if err := l.begin(ctx); err != nil {
		return err
	}
	return l.rmaRW.AcquireRead(forever())
}
