package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
)

// How a rank gives up its place in a queue (see queue in mcs.go).
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

// The values of a status besides 0 and grants.
const (
	abandoned = 1 << 63
	skipped   = 1 << 62
)

// patient is the part of a next that says that the rank does not give up.
const patient = 1 << 63

// patience is the context of a wait, and what the rank says of it.
func (q *queue) patience(ctx context.Context) (context.Context, uint64) {
	if !q.aborts {
		return forever(), patient
	}
	if ctx.Done() == nil {
		return ctx, patient
	}
	return ctx, 0
}

// quit is the end of a wait that err has ended. The node stays where it is, unless the
// lock came at the last moment.
func (q *queue) quit(err error) (grant uint64, _ error) {
	if q.h.broken() || q.status.CompareAndSwap(0, abandoned) {
		q.looks = true
		return none, q.h.fail(err)
	}
	grant = q.status.Load()
	if q.h.broken() {
		return none, q.h.fail(err)
	}
	q.took()
	return grant, nil
}

// rejoin is for a node that this rank, or another one of its element, has abandoned.
// If the node is still in its place the rank has come back, and rejoin waits there.
// Otherwise the node is free when rejoin returns.
func (q *queue) rejoin(ctx context.Context) (back bool, grant uint64, err error) {
	back = q.status.CompareAndSwap(abandoned, 0)
	if !back {
		if _, err := q.status.await(forever(), rma.IsNot(skipped)); err != nil {
			return false, none, q.h.fail(err)
		}
	}
	q.looks = q.shared
	if back {
		grant, err = q.wait(ctx)
	}
	return back, grant, err
}

// offer gives succ the lock, or takes its place if it has given up. It reports whether
// the lock has gone.
func (q *queue) offer(succ, grant uint64) bool {
	status := q.of(succ, nodeStatus)
	if succ&patient != 0 {
		status.publish(grant)
	} else {
		for !status.CompareAndSwap(0, grant) {
			if status.CompareAndSwap(abandoned, skipped) {
				q.recycle()
				q.pos = succ
				return false
			}
			if q.h.broken() {
				return true // no rank goes on
			}
		}
		status.wake()
	}
	q.recycle()
	q.h.handedOver()
	return true
}

// beyond is the successor of the skipped node in whose place the holder stands.
func (q *queue) beyond() uint64 {
	next := q.of(q.pos, nodeNext)
	return next.Load()
}

// recycle makes the node at pos ready for its next turn: the own node, or a skipped one,
// whose owner may be waiting for that.
func (q *queue) recycle() {
	if q.pos == q.name {
		q.next.Store(0)
		return
	}
	next, status := q.of(q.pos, nodeNext), q.of(q.pos, nodeStatus)
	next.Store(0)
	status.publish(0)
	q.pos = q.name
}
