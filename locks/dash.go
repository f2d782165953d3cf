package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
)

// messages is dash::Mutex of the PGAS library DASH (Uffmann 2022, §3.5 and §4.3.2, Abbildung
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
// In DASH a rank makes itself known to its predecessor by a FetchOp, whose answer it does not
// use. Here it does so by a Put (the third optimisation of §4.3.2).
//
// It is also P2P, the global lock of C-P2P-L (§5.4.1, optimisation 4; §5.4.2). There the tail
// names the element of the last rank, whose ranks share a node. A rank tells its predecessor its
// own name, since the message goes to the rank, not to the element. Its releaser looks for a
// successor before it tries to empty the queue (the first optimisation of §4.3.2).
//
// Invariant, memory order: as for queue.
//
// Cost, away from home: one swap to acquire and one CAS to release, also if there is a
// successor; behind a predecessor one more Put to it, with a successor one message.
// P2P needs no CAS if it sees a successor.
type messages struct {
	side     *side
	tail     word
	next     word   // of the own node, or the element's
	inbox    word   // of the rank
	node     uint64 // the name of the node
	received uint64 // messages
	looks    bool   // P2P
}

// newMessages is the queue for the rank of s, whose node is at a rank.
func newMessages(s *side, node Rank) messages {
	return messages{
		side: s, node: uint64(node) + 1,
		tail: s.atHome(0), next: s.at(node, nodeNext), inbox: s.at(s.rank, nodeStatus),
	}
}

// newP2P is the global lock of a cohort.
func newP2P(s *side, node Rank) part {
	q := padded(newMessages(s, node))
	q.looks = true
	return q
}

func (q *messages) enter(context.Context) (grant uint64, err error) {
	pred := q.tail.Swap(q.node)
	if pred == 0 {
		return none, q.side.decided()
	}
	next := q.side.at(Rank(pred-1), nodeNext)
	next.publish(uint64(q.side.rank) + 1)
	if _, err := q.inbox.await(forever(), rma.IsNot(q.received)); err != nil {
		return none, q.side.fail(err)
	}
	q.received++
	return granted, nil
}

func (q *messages) tryEnter() bool { return q.tail.CompareAndSwap(0, q.node) }

func (q *messages) leave(uint64) {
	if !q.looks || q.next.Load() == 0 {
		if q.tail.CompareAndSwap(q.node, 0) {
			return
		}
	}
	succ, err := q.next.await(forever(), rma.IsNot(0))
	if err != nil {
		return
	}
	q.next.Store(0)
	inbox := q.side.at(Rank(succ-1), nodeStatus)
	inbox.accumulate(1)
	q.side.handedOver()
}

// dash is dash::Mutex.
type dash struct {
	side
	messages
}

func newDash(lock *Lock, w rma.Window) Mutex {
	l := padded(dash{})
	l.init(lock, w)
	l.messages = newMessages(&l.side, l.rank)
	return l
}

// Acquire implements Mutex.
func (l *dash) Acquire(ctx context.Context) error {
	if err := l.arrive(ctx); err != nil {
		return err
	}
	return l.entered(l.enter(ctx))
}

// TryAcquire implements Tryer.
func (l *dash) TryAcquire() bool { return l.try(&l.messages) }

// Release implements Mutex.
func (l *dash) Release() {
	if l.end(writing) {
		l.leave(granted)
	}
}

// Alone implements Cohort.
func (l *dash) Alone() bool { return l.next.Load() == 0 }
