package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// queue is the distributed queue (DQ) of Schmid, Besta and Hoefler, HPDC'16, §3.2.2:
// the MCS lock of Mellor-Crummey and Scott on windows, D-MCS, whose flag carries a
// number, the grant. Every lock of this package that stands on MCS is made of queues,
// and each says what a grant means.
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
// Memory order: handle.end has completed what the holder did, before the CAS of the tail
// or the store of the status lets another rank go on. The flush of next makes a
// successor known that the releaser may be waiting for.
//
// Cost, away from home: one swap to acquire, one CAS to release. Behind a predecessor
// one more Put to it; with a successor one Put to it instead of the CAS of the tail, or
// a CAS if the successor may give up.
//
// Line numbers refer to listings 2 (enter) and 3 (leave). Lines 2-4 prepare the node. Here its
// next is zero between two turns, because the releaser clears it after the hand-over. The status
// keeps the last grant until the rank queues up again (stale), so that no rank waits for the Put
// that clears it. A rank that waited for no other spares both Puts. The other ranks of an
// element expect the node that they share as it was: there the grant is cleared at once.
type queue struct {
	h      *handle
	tail   word
	next   word   // of the own node
	status word   // of the own node
	bases  [2]int // of a rank's nodes among its words; the second is AHMCS's
	name   uint64 // of the node that stands in the queue for this rank, in tails and nexts

	// For waiters that give up: see mcs_abort.go.
	aborts bool   // waiters may give up
	pos    uint64 // the own node, or the skipped node in whose place the holder stands
	shared bool   // the other ranks of an element use the own node, too
	stale  bool   // the status has the last grant
	looks  bool   // the own node may have been abandoned
}

// The words of a node.
const (
	nodeNext = iota
	nodeStatus
	nodeWords
)

// newQueue is the queue with that tail, for the rank of h. The node of rank node stands in
// the queue for it: its own, or its element's.
func newQueue(h *handle, tail word, node Rank, base int, aborts bool) queue {
	q := queue{h: h, tail: tail, bases: [2]int{base, base}, aborts: aborts}
	q.stand(uint64(node) + 1)
	return q
}

// stand makes a node the rank's own.
func (q *queue) stand(name uint64) {
	q.name, q.pos, q.next, q.status = name, name, q.of(name, nodeNext), q.of(name, nodeStatus)
}

// second is the part of a name that says that it is the rank's second node.
const second = 1 << 62

// of is a word of the node with that name.
func (q *queue) of(name uint64, i int) word {
	return q.h.at(Rank(name&^(patient|second)-1), q.bases[name/second&1]+i)
}

// enter queues up and returns the predecessor's grant, or none if the queue was empty.
func (q *queue) enter(ctx context.Context) (grant uint64, err error) {
	if q.stale {
		q.stale = false
		q.status.Store(0) // l. 4
	}
	if q.looks && q.status.Load() != 0 {
		if back, grant, err := q.rejoin(ctx); back || err != nil {
			return grant, err
		}
	}
	pred := q.tail.Swap(q.name) // l. 5-7
	if pred == 0 {              // l. 8
		return none, q.h.decided()
	}
	return q.follow(ctx, pred)
}

// follow waits behind pred.
func (q *queue) follow(ctx context.Context, pred uint64) (grant uint64, err error) {
	ctx, patience := q.patience(ctx)
	next := q.of(pred, nodeNext)
	next.publish(q.name | patience) // l. 9-10
	return q.wait(ctx)
}

// wait waits for the grant: l. 11-14.
func (q *queue) wait(ctx context.Context) (grant uint64, err error) {
	if grant, err = q.status.await(ctx, rma.IsNot(0)); err != nil {
		return q.quit(err)
	}
	q.took()
	return grant, nil
}

// took clears the grant that the rank has read, or leaves that to its next enter.
func (q *queue) took() {
	if q.stale = !q.shared; q.shared {
		q.status.Store(0)
	}
}

// tryEnter enters the queue if it is empty, and reports whether it did.
func (q *queue) tryEnter() bool {
	return (!q.looks || q.status.Load() == 0) && q.tail.CompareAndSwap(0, q.name)
}

// leave gives the lock to a successor, or leaves the queue empty.
func (q *queue) leave(grant uint64) { q.handOn(grant) }

// handOn is leave, and reports whether the queue is empty now.
func (q *queue) handOn(grant uint64) (last bool) {
	for succ := q.successor(); !q.pass(succ, grant); { // l. 2, 13-14
		if q.empty() { // l. 3-8
			return true
		}
		next := q.of(q.pos, nodeNext)
		var err error
		if succ, err = next.await(forever(), rma.IsNot(0)); err != nil { // l. 9-11
			return false
		}
	}
	return false
}

// pass gives the lock to succ, or the first known one behind it that still wants the
// lock, and reports whether there was one.
func (q *queue) pass(succ, grant uint64) bool {
	for ; succ != 0; succ = q.successor() {
		if q.offer(succ, grant) {
			return true
		}
	}
	return false
}

// successor is the one that is known, or 0.
func (q *queue) successor() uint64 {
	if q.pos == q.name {
		return q.next.Load()
	}
	return q.beyond()
}

// empty takes the holder's node out of the queue if it is the last, and reports whether
// it was.
func (q *queue) empty() bool {
	if !q.tail.CompareAndSwap(q.pos, 0) {
		return q.h.broken() // no rank goes on
	}
	if q.pos != q.name {
		q.recycle()
	}
	return true
}

// alone implements part: no successor is known.
func (q *queue) alone() bool { return q.next.Load() == 0 }

// mcs is one queue: any grant means go on. It is MCS, and D-MCS by operations. MCS's
// waiters give up; D-MCS's stay, as in the paper.
type mcs struct {
	handle
	queue
}

func newMCS(aborts bool) func(*Lock, rma.Window) Mutex {
	return func(lock *Lock, w rma.Window) Mutex {
		l := padded(mcs{})
		l.init(lock, w)
		l.queue = newQueue(&l.handle, l.atHome(0), l.rank, 0, aborts)
		return l
	}
}

func wordsOfMCS(*topology.Tree, Options) Words { return Words{Home: 1, Rank: nodeWords} }

// Acquire implements Mutex.
func (l *mcs) Acquire(ctx context.Context) error { return l.acquire(ctx, &l.queue) }

// TryAcquire implements Tryer.
func (l *mcs) TryAcquire() bool { return l.try(&l.queue) }

// Release implements Mutex.
func (l *mcs) Release() { l.release(&l.queue) }

// Alone implements Cohort.
func (l *mcs) Alone() bool { return l.alone() }
