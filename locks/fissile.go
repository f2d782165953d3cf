package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// fissile is the Fissile lock of Dice and Kogan, NETYS'20 (Uffmann 2022, §6): a spin lock
// before CNA. A rank tries the spin lock once. If that fails it goes through CNA's queue, and
// its head, the alpha thread, competes for the spin lock with the ranks that come. So a lock
// without contention costs what a spin lock costs.
//
//	tail ──▶ ... ─▶ waiter ─▶ head ─▶ top ◀─ ranks that come
//
// A head that has failed Options.Patience times becomes impatient: no rank steals then, until
// it has the lock. The frame and its top are SHFL's (spin_queue.go), with two
// differences. A head of SHFL is impatient from the beginning, and stealing is off until the
// queue is empty; here it is off for one head at a time, and on again for the next.
//
// Invariant, memory order: spinQueue's, and cnaQueue's.
//
// Fairness: a head tries at most Options.Patience times before it is the next. A rank in the
// queue is overtaken as in CNA, and by ranks that steal.
//
// Cost, away from home: a CAS and a FetchOp.
type fissile struct {
	side
	top   word
	below cnaQueue
}

func newFissile(lock *Lock, w rma.Window) Mutex {
	l := padded(fissile{})
	l.init(lock, w)
	l.top, l.below = l.atHome(0), newCNAQueue(&l.side, 1)
	return l
}

func wordsOfFissile(*topology.Tree, Options) Words { return Words{Home: 2, Rank: nodeWords} }

// Acquire implements Mutex.
func (l *fissile) Acquire(ctx context.Context) error {
	if err := l.arrive(ctx); err != nil {
		return err
	}
	waited := !l.top.CompareAndSwap(0, topLocked)
	if waited {
		if _, err := l.below.enter(ctx); err != nil {
			return err
		}
		l.take()
		if !l.broken() {
			l.below.handOn()
		}
	}
	if err := l.decided(); err != nil {
		return err
	}
	l.came(writing, entry{waited: waited, upper: !waited || l.below.run == 1})
	return nil
}

// take takes the spin lock for the head.
func (l *fissile) take() {
	b := newBackoff(&l.side)
	for range l.o.Patience {
		if b.wait(forever(), &l.top, rma.Is(0)) != nil || l.top.CompareAndSwap(0, topLocked) {
			return
		}
	}
	l.top.accumulate(topDisabled)
	if _, err := l.top.await(forever(), rma.Is(topDisabled)); err == nil {
		// Only the head changes top now. It takes the lock, and lets other ranks steal.
		l.top.CompareAndSwap(topDisabled, topLocked)
	}
}

// TryAcquire implements Tryer.
func (l *fissile) TryAcquire() bool {
	if l.begin(forever()) != nil || !l.top.CompareAndSwap(0, topLocked) {
		return false
	}
	l.came(writing, entry{upper: true})
	return true
}

// Release implements Mutex.
func (l *fissile) Release() {
	if l.end(writing) {
		if l.top.Add(^uint64(topLocked-1)) != topLocked {
			l.handedOver()
		}
		l.top.wake() // also a head that is still patient
	}
}

// Disown and Adopt implement Oblivious.
func (l *fissile) Disown() { l.disown() }
func (l *fissile) Adopt()  { l.adopt() }
