package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// mcscr is MCSCR, the Malthusian lock of Dice, EuroSys'17: the queue of mcs.go, which restricts
// how many ranks take turns. One rank that holds the lock and one that waits keep it busy. If
// more wait, a releaser culls one: it takes its successor out of the queue and parks it. So a few
// ranks take turns, and their data stays in the caches, while the others sleep.
//
//	tail ─────────────────────────────────▶ last
//	queue    holder ─next─▶ succ ─next─▶ behind           succ is culled, behind is next
//	parked   head ─next─▶ ... ─next─▶ rear                the newest, ..., the eldest
//	              ◀─prev─     ◀─prev─
//
// If no rank waits in the queue, the newest parked rank comes back. After Options.Batch
// acquisitions, where the paper draws a random number, the eldest one does.
//
// The paper keeps the list of parked ranks in the lock. Here its ends travel in the grant, as the
// second queue of cna.go does.
//
// A waiter does not give up: a releaser moves nodes between the queue and the list.
//
// Words: a node of mcs.go, and prev, which names the parked rank that came after.
//
// Invariant: every waiter stands in the queue or in the list. Only the holder knows the list. The list is empty if
// head is zero, and rear says nothing then. The holder culls
// a node that has a successor, since ranks that line up write the last node's next. If the
// tail is zero no rank is parked.
//
// Memory order: as for queue. The links are flushed before the holder leaves.
//
// Fairness: while ranks are parked, the eldest has the lock after Options.Batch acquisitions. So
// a parked rank waits for at most Options.Batch of them for itself and for each rank that was
// parked before.
//
// Cost, away from home: MCS's, and a look at the successor's node. To cull, one or two Puts more.
type mcscr struct {
	side
	malthusian
}

// malthusian is the algorithm of MCSCR.
type malthusian struct{ twoQueues }

// The word that nodes of MCSCR have besides a queue's.
const (
	mcscrPrev  = nodeWords
	mcscrWords = mcscrPrev + 1
)

func wordsOfMCSCR(*topology.Tree, Options) Words { return Words{Home: 1, Rank: mcscrWords} }

func newMCSCR(lock *Lock, w rma.Window) Mutex {
	l := padded(mcscr{})
	l.init(lock, w)
	l.twoQueues = newTwoQueues(&l.side, 0)
	return l
}

// handOn gives the lock to the eldest parked rank, to a rank of the queue, or to the newest parked
// one, in this order.
func (q *malthusian) handOn() {
	if q.head == 0 {
		q.run = 0
	} else if q.run >= q.limit {
		q.revive()
		return
	}
	succ := q.next.Load()
	if succ == 0 {
		if q.empties() {
			return
		}
		var err error
		if succ, err = q.next.await(forever(), rma.IsNot(0)); err != nil {
			return
		}
	}
	if behind := q.nextOf(succ); behind != 0 {
		q.park(succ)
		succ = behind
	}
	q.give(succ, q.run+1, q.head, q.rear)
}

// empties reports whether no rank waits in the queue. Then the newest parked rank has the lock, if there is one.
func (q *malthusian) empties() bool {
	newest := q.head
	if newest == 0 {
		return q.tail.CompareAndSwap(q.name, 0)
	}
	older := q.nextOf(newest)
	q.link(newest, 0)
	if !q.tail.CompareAndSwap(q.name, newest) {
		q.link(newest, older)
		return false
	}
	q.head = older
	q.give(newest, q.run+1, q.head, q.rear)
	return true
}

// revive gives the lock to the eldest parked rank, which takes the holder's place before the queue.
func (q *malthusian) revive() {
	eldest := q.rear
	if eldest == q.head {
		q.head = 0
	} else {
		prev := q.side.at(Rank(eldest-1), mcscrPrev)
		if q.rear = prev.Load(); q.rear == 0 {
			return // the window has failed
		}
		q.link(q.rear, 0)
	}
	succ := q.next.Load()
	if succ == 0 { // so is the next of the eldest
		if q.tail.CompareAndSwap(q.name, eldest) {
			q.give(eldest, 1, q.head, q.rear)
			return
		}
		var err error
		if succ, err = q.next.await(forever(), rma.IsNot(0)); err != nil {
			return
		}
	}
	q.link(eldest, succ)
	q.give(eldest, 1, q.head, q.rear)
}

// park puts a node of the queue into the list.
func (q *malthusian) park(node uint64) {
	q.link(node, q.head)
	if q.head == 0 {
		q.rear = node
	} else {
		prev := q.side.at(Rank(q.head-1), mcscrPrev)
		prev.Store(node)
	}
	q.head = node
}

// nextOf is the node behind a node, or 0.
func (q *malthusian) nextOf(node uint64) uint64 {
	next := q.side.at(Rank(node-1), nodeNext)
	return next.Load()
}

// Acquire implements Mutex.
func (l *mcscr) Acquire(ctx context.Context) error {
	if err := l.arrive(ctx); err != nil {
		return err
	}
	return l.entered(l.enter(ctx))
}

// TryAcquire implements Tryer.
func (l *mcscr) TryAcquire() bool {
	return l.begin(forever()) == nil && l.tried(writing, l.tryEnter())
}

// Release implements Mutex.
func (l *mcscr) Release() {
	if l.end(writing) {
		l.handOn()
	}
}

// Alone implements Cohort. Parked ranks wait, too.
func (l *mcscr) Alone() bool { return l.head == 0 && l.alone() }
