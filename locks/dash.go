package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
)

// dash is dash::Mutex of the PGAS library DASH (Uffmann 2022, §3.5 and §4.3.2, Abbildung
// 4.3): a queue as in mcs.go, with two differences. It hands over by a message, point to
// point, and its releaser tries to empty the queue before it looks for a successor.
//
//	tail ───────────────────────────▶ last
//	holder ─next─▶ waiter ─next─▶ waiter
//	               inbox          inbox           counts messages
//
// A message adds one to the receiver's inbox. The receiver remembers how many it has
// received, so that the inbox needs no preparation.
//
// As DASH has it (dash::Mutex-FAO, Abbildung 4.3), a rank makes itself known to its predecessor
// by a FetchOp, whose answer it does not use. A Put is enough (dash::Mutex, the third
// optimisation of §4.3.2).
//
// Invariant, memory order: as for queue.
//
// Cost, away from home: one swap to acquire and one CAS to release, also if there is a
// successor; behind a predecessor one more Put or FetchOp to it, with a successor one message.
type dash struct {
	handle
	tail     word
	next     word // of the own node
	inbox    word // of the own node
	name     uint64
	received uint64 // messages
	fao      bool   // dash::Mutex-FAO
}

func newDash(fao bool) func(*Lock, rma.Window) Mutex {
	return func(lock *Lock, w rma.Window) Mutex {
		l := padded(dash{fao: fao})
		l.init(lock, w)
		l.name = uint64(l.rank) + 1
		l.tail, l.next, l.inbox = l.atHome(0), l.at(l.rank, nodeNext), l.at(l.rank, nodeStatus)
		return l
	}
}

// Acquire implements Mutex.
func (l *dash) Acquire(ctx context.Context) error { return l.acquire(ctx, l) }

func (l *dash) enter(context.Context) (grant uint64, err error) {
	pred := l.tail.Swap(l.name)
	if pred == 0 {
		return none, l.decided()
	}
	next := l.at(Rank(pred-1), nodeNext)
	if l.fao {
		next.Swap(l.name)
	} else {
		next.publish(l.name)
	}
	if _, err := l.inbox.await(forever(), rma.IsNot(l.received)); err != nil {
		return none, l.fail(err)
	}
	l.received++
	return granted, nil
}

// TryAcquire implements Tryer.
func (l *dash) TryAcquire() bool { return l.try(l) }

func (l *dash) tryEnter() bool { return l.tail.CompareAndSwap(0, l.name) }

// Release implements Mutex.
func (l *dash) Release() { l.release(l) }

func (l *dash) leave(uint64) {
	if l.tail.CompareAndSwap(l.name, 0) {
		return
	}
	succ, err := l.next.await(forever(), rma.IsNot(0))
	if err != nil {
		return
	}
	l.next.Store(0)
	inbox := l.at(Rank(succ-1), nodeStatus)
	inbox.accumulate(1)
	l.handedOver()
}

// Alone implements Cohort.
func (l *dash) Alone() bool { return l.next.Load() == 0 }
