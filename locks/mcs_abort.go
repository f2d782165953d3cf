package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
)

// abortQueue is a queue that waiters may leave before their turn. It is a layer on the queue of
// mcs.go: the listing is the same, and a node has more states. MCS, trees of queues and cohorts
// are made of such queues.
//
// A node cannot leave the middle of a queue on its own. A rank that gives up marks its
// node and goes away. The node stays until a releaser comes to it, takes it out, and
// hands on to the node behind. A rank that comes back before that has its old place.
//
//	          ┌──── the rank comes back ────┐
//	          ▼                             │
//	(queued) 0 ──── the rank gives up ──▶ abandoned ──a releaser──▶ skipped ──▶ 0 (free)
//	         └───── a releaser ──▶ grant ──the rank──▶ 0 (holds)
//
// A releaser that has skipped nodes stands on the last of them: pos.
//
// A rank whose context never ends says so when it makes itself known. Its releaser tells
// it by a Put, as in the listing. The others it tells by a CAS, which fails if the rank
// has given up meanwhile.
//
// Two more things are here, because a tree needs them together with this. The ranks of an element
// may share a node, one after the other: then the next one expects it as it was, and a rank clears its
// grant at once. And a rank may have a second node in a queue that has its element's node,
// too (AHMCS).
//
// Invariant, memory order, cost: as for queue. A rank that may give up is told by a CAS, instead
// of a Put.
type abortQueue struct {
	queue
	pos        uint64 // the own node, or the skipped node in whose place the holder stands
	behind     word   // the next of the node at pos
	shared     bool   // the other ranks of an element use the own node, too
	looks      bool   // the own node may have been abandoned
	secondBase int    // of a rank's second node among its words
}

// The values of a status besides 0 and grants.
const (
	abandoned = 1 << 63
	skipped   = 1 << 62
)

// The parts of a name in a next.
const (
	patient = 1 << 63 // the rank does not give up
	second  = 1 << 62 // it is the rank's second node
)

// newAbortQueue is newQueue.
func newAbortQueue(s *side, tail word, node Rank, base int) abortQueue {
	q := newQueue(s, tail, node, base)
	return abortQueue{queue: q, pos: q.name, behind: q.next}
}

// own makes a node the rank's own.
func (q *abortQueue) own(name uint64) {
	q.name, q.next, q.status = name, q.of(name, nodeNext), q.of(name, nodeStatus)
	q.stand(name)
}

// stand makes a node the one at pos.
func (q *abortQueue) stand(name uint64) { q.pos, q.behind = name, q.of(name, nodeNext) }

// of is a word of the node with that name.
func (q *abortQueue) of(name uint64, i int) word {
	base := q.base
	if name&second != 0 {
		base = q.secondBase
	}
	return q.side.at(Rank(name&^(patient|second)-1), base+i)
}

// enter queues up and returns the predecessor's grant, or none if the queue was empty. If ctx
// ends first the rank gives up.
func (q *abortQueue) enter(ctx context.Context) (grant uint64, err error) {
	if q.stale {
		q.prepare()
	}
	if q.looks && q.status.Load() != 0 {
		if back, grant, err := q.rejoin(ctx); back || err != nil {
			return grant, err
		}
	}
	if pred := q.tail.Swap(q.name); pred != 0 { // l. 5-8
		return q.follow(ctx, pred)
	}
	return none, q.side.decided()
}

// follow waits behind pred.
func (q *abortQueue) follow(ctx context.Context, pred uint64) (grant uint64, err error) {
	name := q.name
	if ctx.Done() == nil {
		name |= patient
	}
	next := q.of(pred, nodeNext)
	next.publish(name) // l. 9-10
	return q.wait(ctx)
}

// wait waits for the grant: l. 11-14.
func (q *abortQueue) wait(ctx context.Context) (grant uint64, err error) {
	if grant, err = q.status.await(ctx, rma.IsNot(0)); err != nil {
		return q.quit(err)
	}
	q.took()
	return grant, nil
}

// took clears the grant that the rank has read, or leaves that to its next enter.
func (q *abortQueue) took() {
	if q.stale = !q.shared; q.shared {
		q.status.Store(0)
	}
}

// quit is the end of a wait that err has ended. The node stays where it is, unless the
// lock came at the last moment.
func (q *abortQueue) quit(err error) (grant uint64, _ error) {
	if q.side.broken() || q.status.CompareAndSwap(0, abandoned) {
		q.looks = true
		return none, q.side.fail(err)
	}
	grant = q.status.Load()
	if q.side.broken() {
		return none, q.side.fail(err)
	}
	q.took()
	return grant, nil
}

// rejoin is for a node that this rank, or another one of its element, has abandoned.
// If the node is still in its place the rank has come back, and rejoin waits there.
// Otherwise the node is free when rejoin returns.
func (q *abortQueue) rejoin(ctx context.Context) (back bool, grant uint64, err error) {
	back = q.status.CompareAndSwap(abandoned, 0)
	if !back {
		if _, err := q.status.await(forever(), rma.IsNot(skipped)); err != nil {
			return false, none, q.side.fail(err)
		}
	}
	q.looks = q.shared
	if back {
		grant, err = q.wait(ctx)
	}
	return back, grant, err
}

// tryEnter enters the queue if it is empty, and reports whether it did.
func (q *abortQueue) tryEnter() bool {
	return (!q.looks || q.status.Load() == 0) && q.queue.tryEnter()
}

// leave gives the lock to a successor, or leaves the queue empty.
func (q *abortQueue) leave(grant uint64) { q.handOn(grant) }

// handOn is leave, and reports whether the queue is empty now.
func (q *abortQueue) handOn(grant uint64) (last bool) {
	for succ := q.behind.Load(); succ == 0 || !q.pass(succ, grant); { // l. 2, 13-14
		if q.tail.CompareAndSwap(q.pos, 0) { // l. 3-8
			if q.pos != q.name {
				q.recycle()
			}
			return true
		}
		var err error
		if succ, err = q.behind.await(forever(), rma.IsNot(0)); err != nil { // l. 9-11
			return false
		}
	}
	return false
}

// pass gives the lock to succ, or the first known one behind it that still wants the
// lock, and reports whether there was one.
func (q *abortQueue) pass(succ, grant uint64) bool {
	for ; succ != 0; succ = q.behind.Load() {
		if q.offer(succ, grant) {
			return true
		}
	}
	return false
}

// offer gives succ the lock, or takes its place if it has given up. It reports whether
// the lock has gone.
func (q *abortQueue) offer(succ, grant uint64) bool {
	status := q.of(succ, nodeStatus)
	if succ&patient != 0 {
		status.publish(grant)
	} else {
		for !status.CompareAndSwap(0, grant) {
			if status.CompareAndSwap(abandoned, skipped) {
				q.recycle()
				q.stand(succ)
				return false
			}
			if q.side.broken() {
				return true // no rank goes on
			}
		}
		status.wake()
	}
	q.recycle()
	q.side.handedOver()
	return true
}

// recycle makes the node at pos ready for its next turn: the own node, or a skipped one,
// whose owner may be waiting for that.
func (q *abortQueue) recycle() {
	q.behind.Store(0)
	if q.pos != q.name {
		status := q.of(q.pos, nodeStatus)
		status.publish(0)
		q.pos, q.behind = q.name, q.next
	}
}

// mcs is MCS: one queue, which waiters may leave. Any grant means go on.
type mcs struct {
	side
	abortQueue
}

func newMCS(lock *Lock, w rma.Window) Mutex {
	l := padded(mcs{})
	l.init(lock, w)
	l.abortQueue = newAbortQueue(&l.side, l.atHome(0), l.rank, 0)
	return l
}

// Acquire implements Mutex.
func (l *mcs) Acquire(ctx context.Context) error {
	if l.hindered() || ctx.Err() != nil {
		if err := l.arrive(ctx); err != nil {
			return err
		}
	}
	return l.entered(l.enter(ctx))
}

// TryAcquire implements Tryer.
func (l *mcs) TryAcquire() bool { return l.try(&l.abortQueue) }

// Release implements Mutex.
func (l *mcs) Release() {
	if l.complete(); l.ends(writing) || l.end(writing) {
		l.leave(granted)
	}
}

// Alone implements Cohort.
func (l *mcs) Alone() bool { return l.alone() }
