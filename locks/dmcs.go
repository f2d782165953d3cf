package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
)

// dmcs is D-MCS-Acc: D-MCS (Schmid, Besta and Hoefler, HPDC'16, §2.4) as the authors' program
// has it, which makes itself known and hands over by Accumulate and not by Put. It is the
// middle step of a ladder (Uffmann 2022, §4.3.1):
//
//   - Accumulate, not flushed: the program. Nothing says that the operation ever arrives. The
//     explorer finds ranks that wait for ever: specimen d-mcs-unflushed.
//   - Accumulate, flushed: this lock.
//   - Put, flushed: D-MCS, in mcs.go. No other rank writes the word at the same time, so an
//     atomic operation buys nothing.
//
// Queue and words are as in mcs.go. The flag is different: it is 1 while the rank waits.
//
// Invariant, memory order, cost: queue's. The preparation of the node is near.
//
// Line numbers refer to listings 2 (enter) and 3 (leave).
type dmcs struct {
	handle
	tail, next, waits word
	name              uint64
}

func newDMCS(lock *Lock, w rma.Window) Mutex {
	l := padded(dmcs{})
	l.init(lock, w)
	l.name = uint64(l.rank) + 1
	l.tail, l.next, l.waits = l.atHome(0), l.at(l.rank, nodeNext), l.at(l.rank, nodeStatus)
	return l
}

// Acquire implements Mutex.
func (l *dmcs) Acquire(ctx context.Context) error { return l.acquire(ctx, l) }

func (l *dmcs) enter(context.Context) (grant uint64, err error) {
	l.next.Store(0)
	l.waits.Store(1)            // l. 2-4
	pred := l.tail.Swap(l.name) // l. 5-7
	if pred == 0 {              // l. 8
		return none, l.decided()
	}
	next := l.at(Rank(pred-1), nodeNext)
	next.replace(l.name)                                           // l. 9-10
	if _, err := l.waits.await(forever(), rma.Is(0)); err != nil { // l. 11-14
		return none, l.fail(err)
	}
	return granted, nil
}

// TryAcquire implements Tryer.
func (l *dmcs) TryAcquire() bool { return l.try(l) }

func (l *dmcs) tryEnter() bool {
	l.next.Store(0)
	return l.tail.CompareAndSwap(0, l.name)
}

// Release implements Mutex.
func (l *dmcs) Release() { l.release(l) }

func (l *dmcs) leave(uint64) {
	succ := l.next.Load() // l. 2
	if succ == 0 {        // l. 3
		if l.tail.CompareAndSwap(l.name, 0) { // l. 5-8
			return
		}
		var err error
		if succ, err = l.next.await(forever(), rma.IsNot(0)); err != nil { // l. 9-11
			return
		}
	}
	waits := l.at(Rank(succ-1), nodeStatus)
	waits.replace(0) // l. 13-14
	l.handedOver()
}

// Alone implements Cohort.
func (l *dmcs) Alone() bool { return l.next.Load() == 0 }
