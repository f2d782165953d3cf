package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// reciprocal is Reciprocating, the lock of Dice and Kogan, PPoPP'25. A rank that comes pushes
// itself onto a stack, the arrivals. The last holder of a segment detaches the whole stack, which
// is the next segment, and the ranks of a segment have the lock one after the other, from the last
// that came to the first. Meanwhile the stack grows again.
//
//	arrivals ──▶ f ──▶ e ──▶ d ──▶ locked       the ranks that came since the last detach
//	segment      holder c ──▶ b ──▶ a ──▶ stop   the last holder before c has detached these
//
// No node has a link in memory. A rank learns from its swap who stood in the stack before it:
// that rank is its successor, and only it knows. So the last of a segment would take the rank
// below for its successor, which has had the lock already. A holder therefore passes on where
// the segment ends: the name of the rank below its last one, or locked if there is none.
//
//	arrivals, at home                        gate, at every rank
//	63 ... 1    0                            63 ... 32   31 ... 1   0
//	│ rank+1 │ locked │                      │ grant    │ stop   │ locked │    0: wait
//
//	arrivals  0: free
//	          rank+1: a rank holds the lock that came when it was free, or others have come
//	          locked: the stack is empty, and a rank holds the lock
//
// Inside a cohort the gate carries the grant, too. The paper clears the gate when a rank comes. Here
// a rank clears it only if it has waited before (stale), as in mcs.go.
//
// A waiter does not give up: its successor is known to it alone.
//
// Invariant: each waiter stands in the arrivals, or in the segment behind the holder. The
// rank that a holder passes the lock to waits, or is about to notice.
//
// Memory order: side.end completes what the holder did, before the CAS of the arrivals or the
// store of a gate, which is flushed, lets another rank go on. A rank clears its gate before
// its swap makes it known.
//
// Fairness: a rank that came later goes first if it is in the same segment, and then not again
// before the next one. So each other rank overtakes a rank twice at most: once because it came
// before, and once because it came again.
//
// Cost, away from home: one swap to acquire and one CAS to release. In the middle of a
// segment a swap and a Put: no queue lock takes fewer. The last of a segment that detaches the
// next takes a CAS, a swap and a Put.
type reciprocal struct {
	side     *side
	arrivals word
	gate     word   // the own one
	name     uint64 // of the rank, in arrivals and gates
	succ     uint64 // the name of the successor in the segment, or 0
	stop     uint64 // the name at which the segment ends: the own one, if the lock was free
	stale    bool   // the gate has the last grant
}

// The fields of a gate.
const (
	recLocked = 1
	recName   = 1<<32 - 1 // a rank's name, or locked
	recGrant  = 32        // shift
)

func newReciprocal(s *side) reciprocal {
	return reciprocal{side: s, arrivals: s.atHome(0), gate: s.at(s.rank, 0), name: (uint64(s.rank) + 1) << 1}
}

func newReciprocalPart(s *side) local { return padded(newReciprocal(s)) }

func wordsOfReciprocating(*topology.Tree, Options) Words { return Words{Home: 1, Rank: 1} }

// enter implements part: Acquire.
func (r *reciprocal) enter(context.Context) (grant uint64, err error) {
	if r.stale {
		r.stale = false
		r.gate.Store(0)
	}
	below := r.arrivals.Swap(r.name)
	if r.succ, r.stop = below, r.name; below == 0 {
		return none, r.side.decided()
	}
	gate, err := r.gate.await(forever(), rma.IsNot(0))
	if err != nil {
		return none, r.side.fail(err)
	}
	r.stale = true
	if r.stop = gate & recName; r.succ == r.stop { // the segment ends here, at a name or at locked
		r.succ, r.stop = 0, recLocked
	}
	return gate >> recGrant, nil
}

// tryEnter implements part.
func (r *reciprocal) tryEnter() bool {
	r.succ, r.stop = 0, r.name
	return r.arrivals.CompareAndSwap(0, r.name)
}

// alone implements part: the segment ends here, and no rank has come since.
func (r *reciprocal) alone() bool { return r.succ == 0 && r.arrivals.Load() == r.stop }

// leave implements part: Release. At the end of a segment the arrivals are the next one.
func (r *reciprocal) leave(grant uint64) {
	succ := r.succ
	if succ == 0 {
		if r.arrivals.CompareAndSwap(r.stop, 0) {
			return
		}
		if succ = r.arrivals.Swap(recLocked); succ == 0 {
			return // the window has failed
		}
	}
	gate := r.side.at(Rank(succ>>1-1), 0)
	gate.publish(grant<<recGrant | r.stop)
	r.side.handedOver()
}

// reciprocating is Reciprocating.
type reciprocating struct {
	side
	reciprocal
}

func newReciprocating(lock *Lock, w rma.Window) Mutex {
	l := padded(reciprocating{})
	l.init(lock, w)
	l.reciprocal = newReciprocal(&l.side)
	return l
}

// Acquire implements Mutex.
func (l *reciprocating) Acquire(ctx context.Context) error {
	if l.hindered() || ctx.Err() != nil {
		if err := l.arrive(ctx); err != nil {
			return err
		}
	}
	return l.entered(l.enter(ctx))
}

// TryAcquire implements Tryer.
func (l *reciprocating) TryAcquire() bool { return l.try(&l.reciprocal) }

// Release implements Mutex.
func (l *reciprocating) Release() {
	if l.complete(); l.ends(writing) || l.end(writing) {
		l.leave(granted)
	}
}

// Alone implements Cohort.
func (l *reciprocating) Alone() bool { return l.alone() }
