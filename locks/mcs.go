package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// mcs is the queue lock of Mellor-Crummey and Scott on windows: D-MCS of Schmid,
// Besta and Hoefler, HPDC'16, §2.4, listings 2 and 3, where every operation is
// flushed that the text leaves to chance, and dash::Mutex, which hands over by
// message and tries to empty the queue first (Uffmann 2022, §3.5, §4.3). The
// algorithm is queue; any grant means: go on.
//
// Invariant: who is first in the queue holds the lock, or is about to notice.
//
// Memory order: the flush of a release completes what the holder did, before the
// swap of the tail or the store of the status lets anybody go on. The flush of
// next in enter is what makes a successor known that the releaser waits for.
//
// Cost, away from home: one swap to acquire, one CAS to release. Behind a
// predecessor one more Put to it, and with a successor one Put to it instead of
// the CAS of the tail (a CAS of its status if it may give up).
type mcs struct {
	seat
	q queue
}

// newMCS is the lock for a rank; aborts says whether a waiter may give up.
func newMCS(aborts bool) func(seat) Mutex {
	return func(s seat) Mutex {
		l := &mcs{seat: s}
		l.q = newQueue(&l.seat, l.atHome(0), l.rank, 0, aborts)
		return l
	}
}

func wordsOfMCS(*topology.Tree, Options) Words { return Words{Home: 1, Rank: nodeWords} }

// Acquire implements Mutex. It is queue.enter again, for a queue that is in
// order: a rank that wakes up comes back through a function less, each of which
// the processor mispredicts.
func (l *mcs) Acquire(ctx context.Context) error {
	if err := ctx.Err(); err != nil || !l.ready() {
		if err = l.begin(ctx); err != nil {
			return err
		}
	}
	q := &l.q
	if q.direct() {
		l.letBe()
		if pred := q.tail.swap(uint64(q.node) + 1); pred != 0 {
			if !q.aborts {
				ctx = context.Background()
			}
			q.follow(ctx, pred)
			if _, err := q.s.w.Await(ctx, q.node, q.status.disp, rma.IsNot(0)); err != nil {
				if _, err = q.quit(err); err != nil {
					return err
				}
			} else {
				q.status.clear()
			}
			count(&l.counts.Waited)
		} else if err := l.decided(); err != nil {
			return err
		}
	} else if grant, err := q.enter(ctx); err != nil {
		return err
	} else if grant != 0 {
		count(&l.counts.Waited)
	}
	l.acquired(writing)
	return nil
}

// TryAcquire implements Tryer.
func (l *mcs) TryAcquire() bool {
	if l.begin(context.Background()) != nil || !l.q.tryEnter() {
		return false
	}
	l.acquired(writing)
	return true
}

// Release implements Mutex.
func (l *mcs) Release() {
	l.end(writing)
	if q := &l.q; !q.vacate() {
		q.handOver(granted)
	}
}

// Alone implements Cohort.
func (l *mcs) Alone() bool { return l.q.alone() }
