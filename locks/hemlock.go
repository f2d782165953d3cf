package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// hemQueue is the queue of Hemlock, the lock of Dice and Kogan, SPAA'21 (Uffmann 2022,
// §5.4.4), for many locks: a lock has a tail, and a rank has one word, its grant, for all
// locks of a set.
//
//	tail of lock 1 ─────────────▶ last ─watches─▶ ... ─watches─┐
//	                                                           ▼
//	                                                  grant of the holder of both
//	                                                           ▲
//	tail of lock 2 ──▶ last ─watches─▶ ... ─watches────────────┘
//
// A rank that finds a predecessor in the tail watches that one's grant until it names the
// lock, takes the lock, and clears the word for the next hand-over. A rank that holds
// several locks may be watched by a successor for each. It names one after the other, and
// each successor wakes for its own lock only.
//
//	         63 ... 32    31 ... 1   0
//	tail    │    0      │  rank+1  │turn│
//	grant   │  grant    │  lock    │turn│    0: free for a hand-over
//
// A lock is its number in the set, which has fewer than 2^31.
//
// # When the word is free again
//
// The printed release waits until the successor has cleared the word. Where there are
// more ranks than processors that is a wait for the scheduler, outside the queue: releasers
// sleep while their successors go on, until one is alone and takes the lock again and again
// for as long as it may run. Here no rank waits for an acknowledgement before it needs the
// word (Overlap in the paper). The word is always free for the next hand-over of the same
// lock, because a rank gets a lock again only after its last successor has had it. It may
// have to be waited for if the last hand-over was another lock's.
//
// A rank may therefore line up again while its word still names the lock for its last
// successor. The turn, which is the other one each time a rank has left, keeps the next
// successor from taking that for its own. Two are enough: the word is clear before the rank
// leaves again.
//
// The laboratory has both printed texts, which need no turn: one waits for the acknowledgement in
// each release, and Overlap before it lines up. docs/explanation/explored.md tells more.
//
// # Variants
//
//   - CTR, coherence traffic reduction: a word that is about to be changed is fetched for
//     writing at once, by an operation that changes it, and not first for reading. The
//     paper waits with such operations. Waiting is Await's here, which looks and then
//     sleeps, so that there is nothing to fetch again. Two places are left:
//     CTR takes the releaser's word into use by a CAS, and the successor clears it by an
//     exchange.
//   - AH, aggressive hand-over: a release names the lock in its word before it knows whether
//     there is a successor, and takes it back if there is none. A successor goes on while
//     the releaser still waits for the tail, whose line is far away if another rank has
//     lined up. A lock that no other rank wants pays for two stores. The paper warns that a
//     releaser may touch the tail of a lock that its successor has freed. A window's memory
//     is not freed before the fabric ends, so that cannot happen here.
//
// Invariant: a rank's word names a lock in the turn in which the rank has just held it,
// until the successor of that turn takes the lock or there is none.
//
// Memory order: side.end completes what the holder did, before the CAS of the tail or the
// store of the grant lets another rank go on. The flush of the clearing store keeps it from
// undoing a later hand-over.
//
// Cost, away from home: one swap to acquire, one CAS to release. Behind a predecessor the
// rank awaits that one's word, polled from afar where ranks share no memory, as in CLH, and
// clears it; handing over touches the own word. An additional lock of a set costs one word
// altogether.
type hemQueue struct {
	side  *side
	tail  word
	grant word   // of the own rank
	name  uint64 // the name of the rank that the tail holds, or will hold next
	ident uint64 // of the lock in a grant
	hemVariant
}

// hemVariant is how a lock differs from the base algorithm.
type hemVariant struct {
	ctr, ah bool
}

// The fields of the words.
const (
	hemTurn  = 1
	hemLock  = 1<<32 - 1 // lock and turn
	hemGrant = 32        // shift
)

func newHemQueue(s *side, v hemVariant) hemQueue {
	return hemQueue{
		side: s, tail: s.atHome(0), grant: s.at(s.rank, 0),
		name: (uint64(s.rank) + 1) << 1, ident: s.number << 1, hemVariant: v,
	}
}

func newHemPart(v hemVariant) func(*side) local {
	return func(s *side) local { return padded(newHemQueue(s, v)) }
}

func wordsOfHemlock(*topology.Tree, Options) Words { return Words{Home: 1, Rank: 1, Shared: true} }

// enter implements part.
func (q *hemQueue) enter(context.Context) (grant uint64, err error) {
	pred := q.tail.Swap(q.name)
	if pred == 0 {
		return none, q.side.decided()
	}
	// The predecessor names the lock in the turn in which it stood in the tail.
	theirs := q.side.at(Rank(pred>>1-1), 0)
	named := rma.Is(q.ident | pred&hemTurn).Masked(hemLock)
	word, err := theirs.await(forever(), named)
	if err != nil {
		return none, q.side.fail(err)
	}
	if q.ctr {
		theirs.Swap(0)
	} else {
		theirs.Store(0)
	}
	theirs.wake()
	return word >> hemGrant, nil
}

// tryEnter implements part. If the word still names the lock there is a successor, and the
// lock is not free.
func (q *hemQueue) tryEnter() bool { return q.tail.CompareAndSwap(0, q.name) }

// alone implements part.
func (q *hemQueue) alone() bool { return q.tail.Load() == q.name }

// leave implements part.
func (q *hemQueue) leave(grant uint64) {
	name := q.name
	q.name ^= hemTurn
	if !q.ah && q.tail.CompareAndSwap(name, 0) {
		return
	}
	if !q.offer(grant<<hemGrant | q.ident | name&hemTurn) {
		return // the window has failed: no rank goes on
	}
	if q.ah && q.tail.CompareAndSwap(name, 0) {
		q.grant.Store(0) // ranks that watch it for another lock do not care
		return
	}
	q.side.handedOver()
}

// offer writes into the own word as soon as that is free, and reports false if the window
// fails.
func (q *hemQueue) offer(named uint64) bool {
	for !q.take(named) {
		if _, err := q.grant.await(forever(), rma.Is(0)); err != nil {
			return false
		}
	}
	return true
}

// take writes into the own word if that is free, and reports whether it was.
func (q *hemQueue) take(named uint64) bool {
	switch {
	case q.ctr:
		if !q.grant.CompareAndSwap(0, named) {
			return false
		}
		q.grant.wake()
	case q.grant.Load() != 0:
		return false
	default:
		q.grant.publish(named)
	}
	return true
}

// hemlock is HEM, and its variants.
type hemlock struct {
	side
	hemQueue
}

func newHemlock(v hemVariant) func(*Lock, rma.Window) Mutex {
	return func(lock *Lock, w rma.Window) Mutex {
		l := padded(hemlock{})
		l.init(lock, w)
		l.hemQueue = newHemQueue(&l.side, v)
		return l
	}
}

// Acquire implements Mutex.
func (l *hemlock) Acquire(ctx context.Context) error {
	if l.hindered() || ctx.Err() != nil {
		if err := l.arrive(ctx); err != nil {
			return err
		}
	}
	return l.entered(l.enter(ctx))
}

// TryAcquire implements Tryer.
func (l *hemlock) TryAcquire() bool { return l.try(&l.hemQueue) }

// Release implements Mutex.
func (l *hemlock) Release() {
	if l.complete(); l.ends(writing) || l.end(writing) {
		l.leave(granted)
	}
}

// Alone implements Cohort.
func (l *hemlock) Alone() bool { return l.alone() }
