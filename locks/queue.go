package locks

import (
	"context"
	"sync/atomic"

	"github.com/orwl/go-orwl/net/rma"
)

// queue is the distributed queue (DQ) of Schmid, Besta and Hoefler, HPDC'16,
// §3.2.2: the D-MCS lock of §2.4 whose flag carries a number. Every queue lock
// of this package that stands on MCS is made of it, and each of them says what
// the number means.
//
//	tail ───────────────────────────▶ last
//	holder ─next─▶ waiter ─next─▶ waiter
//	               status 0       status 0        0: wait
//
// A node is stored as rank+1, so that zeroed memory is an empty queue. Between
// two turns a node's next and status are zero; that spares the listings' first
// two Puts, which prepare them.
//
// # Giving up
//
// A node cannot leave the middle of a queue on its own. If the queue aborts, a
// rank that gives up marks its node and goes away; the node stays until a
// releaser comes to it, takes it out and hands on to the one behind. Who comes
// back before that finds its old place.
//
//	          ┌──── the rank comes back ────┐
//	          ▼                             │
//	(queued) 0 ──── the rank gives up ──▶ abandoned ──a releaser──▶ skipped ──▶ 0 (free)
//	         └───── a releaser ──▶ grant ──the rank──▶ 0 (holds)
//
// A releaser that has skipped nodes stands on the last of them: pos.
//
// A rank whose context never ends says so when it makes itself known (steady): it
// is told by a Put, as in a queue that does not abort, and not by a CAS.
type queue struct {
	s      *seat
	tail   word
	node   Rank   // whose node stands in the queue for this rank: its own, or its element's
	base   int    // of a node's words among its rank's
	next   word   // of the own node
	status word   // of the own node
	name   uint64 // of the node, in tails and nexts
	pos    Rank   // node, or the skipped node in whose place the holder stands
	aborts bool
	shared bool // other ranks use the node, too
	looks  bool // the node may have been abandoned
	near   bool // all its words are reached directly

	received uint64 // messages, if they hand over
}

// The words of a node.
const (
	nodeNext = iota
	nodeStatus
	nodeWords
)

// What a status may be besides 0 and a grant.
const (
	abandoned = 1 << 63
	skipped   = 1 << 62
)

// steady is what a next says besides the node, of a rank that does not give up.
const steady = 1 << 63

// newQueue is the queue whose tail is given, for the rank of s.
func newQueue(s *seat, tail word, node Rank, base int, aborts bool) queue {
	return queue{
		s: s, tail: tail, node: node, base: base, name: uint64(node) + 1, pos: node, aborts: aborts,
		next: s.at(node, base+nodeNext), status: s.at(node, base+nodeStatus), near: s.direct,
	}
}

// enter queues up and returns what the predecessor granted: more than zero, or
// zero if there was none.
func (q *queue) enter(ctx context.Context) (grant uint64, err error) {
	if q.looks {
		if status := q.status.load(); status != 0 {
			back, err := q.rejoin(status)
			if err != nil {
				return 0, err
			}
			if back {
				return q.wait(ctx)
			}
		}
	}
	pred, lined := q.s.lone.arrived()
	if !lined {
		pred = q.tail.swap(q.name)
	}
	if pred == 0 {
		return 0, q.s.decided()
	}
	return q.lineUp(ctx, pred)
}

// lineUp is the rest of enter behind a predecessor.
func (q *queue) lineUp(ctx context.Context, pred uint64) (grant uint64, err error) {
	if !q.aborts {
		ctx = context.Background()
	}
	q.follow(ctx, pred)
	if q.s.o.HandOver == ByMessage {
		return q.receive()
	}
	// Here as well as in wait: each function that a rank has to return from when
	// it wakes up is a misprediction on the way to whoever comes next.
	if grant, err = q.status.await(ctx, rma.IsNot(0)); err != nil {
		return q.quit(err)
	}
	q.status.clear()
	return grant, nil
}

// follow makes the rank, which waits until ctx is done, known to its predecessor.
func (q *queue) follow(ctx context.Context, pred uint64) {
	next := q.s.at(Rank(pred-1), q.base+nodeNext)
	if ctx.Done() == nil {
		next.publish(q.name | steady)
	} else {
		next.publish(q.name)
	}
}

// tryEnter enters an empty queue and reports whether it was empty.
func (q *queue) tryEnter() bool {
	return (!q.looks || q.status.load() == 0) && q.tail.cas(0, q.name)
}

// wait waits for the grant, at most until ctx is done.
func (q *queue) wait(ctx context.Context) (uint64, error) {
	grant, err := q.status.await(ctx, rma.IsNot(0))
	if err != nil {
		return q.quit(err)
	}
	q.status.clear()
	return grant, nil
}

// quit is the end of a wait that err has ended: the node is left where it is,
// unless the lock came at the last moment.
func (q *queue) quit(err error) (grant uint64, _ error) {
	if q.s.memory.broken() || q.status.cas(0, abandoned) {
		q.looks = true
		q.s.allow(false)
		return 0, q.s.fail(err)
	}
	if grant = q.status.load(); q.s.memory.broken() {
		return 0, q.s.fail(err)
	}
	q.status.clear()
	return grant, nil
}

// receive waits for the predecessor's message.
func (q *queue) receive() (uint64, error) {
	if _, err := q.status.await(context.Background(), rma.IsNot(q.received)); err != nil {
		return 0, q.s.fail(err)
	}
	q.received++
	return granted, nil
}

// rejoin takes up a node that this rank, or another one of its element, has
// abandoned: it reports true if the node is still in its place, and otherwise
// waits until it is free.
func (q *queue) rejoin(status uint64) (bool, error) {
	back := status == abandoned && q.status.cas(abandoned, 0)
	if !back {
		if _, err := q.status.await(context.Background(), rma.IsNot(skipped)); err != nil {
			return false, q.s.fail(err)
		}
	}
	q.looks = q.shared
	q.s.allow(true)
	return back, nil
}

// alone reports whether no successor is known.
func (q *queue) alone() bool { return q.next.load() == 0 }

// successor is the one that is known, or 0.
func (q *queue) successor() uint64 {
	if q.near && q.pos == q.node {
		return atomic.LoadUint64(q.next.at)
	}
	return q.farSuccessor()
}

func (q *queue) farSuccessor() uint64 {
	if q.pos == q.node {
		return q.next.load()
	}
	next := q.s.at(q.pos, q.base+nodeNext)
	return next.load()
}

// pass gives the lock to succ, or the first known one after it that still wants it,
// and reports whether there was one. If there was none the rank still holds the lock.
func (q *queue) pass(succ, grant uint64) bool {
	for ; succ != 0; succ = q.successor() {
		if q.offer(succ, grant) {
			return true
		}
	}
	return false
}

// leave gives the lock to a successor, or leaves the queue empty.
func (q *queue) leave(grant uint64) {
	if q.s.o.CASFirst && q.empty() {
		return
	}
	for succ := q.successor(); !q.pass(succ, grant) && !q.empty(); {
		// Somebody has swapped the tail and is about to tell.
		var err error
		if succ, err = q.awaitSuccessor(); err != nil {
			return
		}
	}
}

// empty takes the holder's node out if it is the last, and reports whether it
// was.
func (q *queue) empty() bool {
	if !q.tail.cas(uint64(q.pos)+1, 0) {
		return q.s.memory.broken() // nobody goes on
	}
	if q.pos != q.node {
		q.free()
	}
	return true
}

// offer gives succ the lock, or takes its place if it has given up. It reports
// whether the lock has gone.
func (q *queue) offer(succ, grant uint64) bool {
	status := q.s.at(Rank(succ&^steady-1), q.base+nodeStatus)
	switch {
	case q.s.o.HandOver == ByMessage:
		status.accumulate(1)
		status.wake()
	case succ&steady != 0:
		status.publish(grant)
	default:
		for !status.cas(0, grant) {
			if status.cas(abandoned, skipped) {
				q.free()
				q.pos = Rank(succ - 1)
				return false
			}
			if q.s.memory.broken() {
				return true // nobody goes on
			}
		}
		status.wake()
	}
	q.free()
	q.s.gaveWay()
	return true
}

// free makes the node at pos fit for its next turn. A skipped node's owner may
// be waiting for that.
func (q *queue) free() {
	if q.pos == q.node {
		q.next.clear()
		return
	}
	next, status := q.s.at(q.pos, q.base+nodeNext), q.s.at(q.pos, q.base+nodeStatus)
	next.store(0)
	status.publish(0)
	q.pos = q.node
}

func (q *queue) awaitSuccessor() (uint64, error) {
	next := q.s.at(q.pos, q.base+nodeNext)
	return next.await(context.Background(), rma.IsNot(0))
}
