package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// queue is the distributed queue (DQ) of Schmid, Besta and Hoefler, HPDC'16, §3.2.2:
// the MCS lock of Mellor-Crummey and Scott on windows, D-MCS, whose flag carries a
// number, the grant. Every lock of this package that stands on MCS is made of queues,
// and each says what a grant means. Waiters stay, as in the paper: mcs_abort.go has the
// queue that they may leave.
//
//	tail ───────────────────────────▶ last
//	holder ─next─▶ waiter ─next─▶ waiter
//	               status 0       status 0        0: wait
//
// Words: a rank's node has a next and a status. Ranks are stored as rank+1, so that
// zeroed memory is an empty queue.
//
// Invariant: the first rank in the queue holds the lock, or is about to notice.
//
// Memory order: side.end has completed what the holder did, before the CAS of the tail
// or the store of the status lets another rank go on. The flush of next makes a
// successor known that the releaser may be waiting for.
//
// Cost, away from home: one swap to acquire, one CAS to release. Behind a predecessor
// one more Put to it; with a successor one Put to it instead of the CAS of the tail.
//
// Line numbers refer to listings 2 (enter) and 3 (handOn). Lines 2-4 prepare the node. Here its
// next is zero between two turns, because the releaser clears it after the hand-over. The status
// keeps the last grant until the rank queues up again (stale), so that no rank waits for the Put
// that clears it. A rank that waited for no other spares both Puts.
type queue struct {
	side   *side
	tail   word
	next   word   // of the own node
	status word   // of the own node
	base   int    // of a rank's node among its words
	name   uint64 // of the node that stands in the queue for this rank, in tails and nexts
	stale  bool   // the status has the last grant
}

// The words of a node.
const (
	nodeNext = iota
	nodeStatus
	nodeWords
)

// newQueue is the queue with that tail, for the rank of s. The node of rank node stands in
// the queue for it: its own, or its element's.
func newQueue(s *side, tail word, node Rank, base int) queue {
	q := queue{side: s, tail: tail, base: base, name: uint64(node) + 1}
	q.next, q.status = q.of(q.name, nodeNext), q.of(q.name, nodeStatus)
	return q
}

// of is a word of the node with that name.
func (q *queue) of(name uint64, i int) word { return q.side.at(Rank(name-1), q.base+i) }

// enter queues up and returns the predecessor's grant, or none if the queue was empty.
func (q *queue) enter(context.Context) (grant uint64, err error) {
	if q.stale {
		q.prepare()
	}
	pred := q.tail.Swap(q.name) // l. 5-7
	if pred == 0 {              // l. 8
		return none, q.side.decided()
	}
	next := q.of(pred, nodeNext)
	next.publish(q.name)                                                  // l. 9-10
	if grant, err = q.status.await(forever(), rma.IsNot(0)); err != nil { // l. 11-14
		return none, q.side.fail(err)
	}
	q.stale = true
	return grant, nil
}

// prepare clears the last grant: l. 4.
func (q *queue) prepare() {
	q.stale = false
	q.status.Store(0)
}

// tryEnter enters the queue if it is empty, and reports whether it did.
func (q *queue) tryEnter() bool { return q.tail.CompareAndSwap(0, q.name) }

// leave gives the lock to a successor, or leaves the queue empty.
func (q *queue) leave(grant uint64) { q.handOn(grant) }

// handOn is leave, and reports whether the queue is empty now.
func (q *queue) handOn(grant uint64) (last bool) {
	succ := q.next.Load() // l. 2
	if succ == 0 {        // l. 3
		if q.tail.CompareAndSwap(q.name, 0) { // l. 5-8
			return true
		}
		var err error
		if succ, err = q.next.await(forever(), rma.IsNot(0)); err != nil { // l. 9-11
			return false
		}
	}
	q.handTo(succ, grant)
	return false
}

// handTo gives the lock to succ: l. 13-14.
func (q *queue) handTo(succ, grant uint64) {
	status := q.of(succ, nodeStatus)
	status.publish(grant)
	q.next.Store(0)
	q.side.handedOver()
}

// alone implements part: no successor is known.
func (q *queue) alone() bool { return q.next.Load() == 0 }

// dmcs is D-MCS: one queue, by operations. Any grant means go on.
type dmcs struct {
	side
	queue
}

func newDMCS(lock *Lock, w rma.Window) Mutex {
	l := padded(dmcs{})
	l.init(lock, w)
	l.queue = newQueue(&l.side, l.atHome(0), l.rank, 0)
	return l
}

func wordsOfMCS(*topology.Tree, Options) Words { return Words{Home: 1, Rank: nodeWords} }

// Acquire implements Mutex.
func (l *dmcs) Acquire(ctx context.Context) error {
	if l.hindered() || ctx.Err() != nil {
		if err := l.arrive(ctx); err != nil {
			return err
		}
	}
	return l.entered(l.enter(ctx))
}

// TryAcquire implements Tryer.
func (l *dmcs) TryAcquire() bool { return l.try(&l.queue) }

// Release implements Mutex.
func (l *dmcs) Release() {
	if l.complete(); l.ends(writing) || l.end(writing) {
		l.leave(granted)
	}
}

// Alone implements Cohort.
func (l *dmcs) Alone() bool { return l.alone() }
