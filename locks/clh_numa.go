package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// clhNUMA is Craig's CLH for machines without coherent caches (Uffmann 2022, §5.3.2,
// Abbildung 5.2). A waiter tells its predecessor where it waits, in a word of its own.
//
//	tail ───────────────────▶ node of the last
//	node of the holder ─────▶ waiter's word        node of a waiter ─────▶ ...
//
// Queue, nodes and turns are clhQueue's. A node has a status instead of a flag.
// Holder and waiter both swap it, and the second of them learns of the first:
//
//	          turn before ──the waiter──▶ turn, rank ──the holder, who tells it──▶ turn, grant
//	(locked)       └──────────the holder──▶ turn, grant ──the waiter, who goes on──▶ turn, rank
//
// Either way the node is the waiter's in the end, and shows the turn that is over. Only one
// rank lines up behind a node in a turn and puts its number there; until it has, the turn
// in the status means: released. Therefore the node must not stand in the queue again before:
// it has to travel.
//
// Invariant: clhQueue's; and a rank's word is zero unless the rank is being told.
//
// Memory order: as for clhQueue. The word is told by a Put, flushed, after everything that
// the holder did.
//
// Cost, away from home: a swap of the tail and one of the predecessor's status to acquire,
// one of the own status to release, where either node is near by chance only, and a Put to
// the successor if there is one.
type clhNUMA struct {
	side
	clhQueue
	wait word // the rank's own
}

// The words of CLH-NUMA at each rank.
const (
	clhNUMAStatus = iota
	clhNUMAWait
	clhNUMARank
)

func wordsOfCLHNUMA(*topology.Tree, Options) Words {
	return Words{Home: clhHome, Rank: clhNUMARank}
}

func newCLHNUMA(lock *Lock, w rma.Window) Mutex {
	l := padded(clhNUMA{})
	l.init(lock, w)
	l.clhQueue, l.wait = newCLHQueue(&l.side), l.at(l.rank, clhNUMAWait)
	return l
}

// Acquire implements Mutex.
func (l *clhNUMA) Acquire(ctx context.Context) error {
	if err := l.arrive(ctx); err != nil {
		return err
	}
	return l.entered(l.enter(ctx))
}

func (l *clhNUMA) enter(context.Context) (grant uint64, err error) {
	pred := l.meet(l.tail.Swap(l.own().name))
	status := pred.flag.Swap(pred.name&clhHigh | uint64(l.rank))
	if pred.released(status) {
		return none, l.decided()
	}
	if grant, err = l.wait.await(forever(), rma.IsNot(0)); err != nil {
		return none, l.fail(err)
	}
	l.wait.Store(0)
	return grant, nil
}

// TryAcquire implements Tryer.
func (l *clhNUMA) TryAcquire() bool { return l.try(l) }

// Release implements Mutex.
func (l *clhNUMA) Release() {
	if l.end(writing) {
		l.leave(granted)
	}
}

func (l *clhNUMA) leave(grant uint64) {
	own := l.own()
	if status := own.flag.Swap(own.name&clhHigh | grant); own.released(status) {
		wait := l.at(Rank(status&clhLow), clhNUMAWait)
		wait.publish(grant)
		l.handedOver()
	}
	l.trade()
}

// Alone implements Cohort.
func (l *clhNUMA) Alone() bool { return l.alone() }
