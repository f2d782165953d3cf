package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// hemlock is the queue lock of Dice and Kogan, SPAA'21 (Uffmann 2022, §5.4.4),
// for many locks: a lock has a tail, and a rank has one word, its grant, for all
// locks of a set.
//
//	tail of lock 1 ─────────────▶ last ─watches─▶ ... ─watches─┐
//	                                                           ▼
//	                                                  grant of the holder of both
//	                                                           ▲
//	tail of lock 2 ──▶ last ─watches─▶ ... ─watches────────────┘
//
// A rank that finds a predecessor in the tail watches that one's grant until it
// names the lock, takes the lock, and clears the word for the next hand-over. A
// rank that holds several locks may be watched by a successor for each: it names
// one after the other, and everybody wakes for their own only.
//
//	         63 ... 32    31 ... 1   0
//	tail    │    0      │  rank+1  │turn│
//	grant   │  grant    │  lock    │turn│    0: free for a hand-over
//
// A lock is its number in the set, which has fewer than 2^31.
//
// # When the word is free again
//
// As printed, a release waits until the successor has cleared the word. Where
// there are more ranks than processors that is a wait for the scheduler, outside
// the queue: releasers sleep while those who were handed the lock go on, until
// one of them is alone and takes the lock again and again for as long as it may
// run. Here nobody waits for an acknowledgement before the word is needed
// (Overlap in the paper). It is always free for the next hand-over of the same
// lock, because a rank gets a lock again only after its last successor has had
// it; it may have to be waited for if the last hand-over was another lock's.
//
// A rank may therefore line up again while its word still names the lock for its
// last successor. The turn, which is the other one each time a rank has left,
// keeps the next successor from taking that for its own. Two are enough: the word
// is clear before the rank leaves again. The printed Overlap waits instead, before
// lining up.
//
// # Variants
//
//   - CTR, coherence traffic reduction: a word that is about to be changed is
//     fetched for writing at once, by an operation that changes it, and not first
//     for reading. The paper waits with such operations. Waiting is Await's here,
//     which looks and then sleeps, so that there is nothing to fetch again; what
//     is left is the releaser's word, which CTR takes into use by a CAS, and the
//     successor's exchange that clears it: in shared memory what any atomic store
//     is, elsewhere one operation instead of two.
//   - AH, aggressive hand-over: a release names the lock in its word before it
//     knows whether there is a successor, and takes it back if there is none. A
//     successor goes on while the releaser still waits for the tail, whose line is
//     far away if somebody has lined up; a lock that nobody wants pays for two
//     stores in vain. The paper warns that a releaser may touch the tail of a lock
//     that its successor has freed. A window's memory is not freed before the
//     fabric ends: here that cannot happen.
//
// Invariant: a rank's word names a lock in the turn in which the rank has just
// held it, until the successor of that turn takes the lock or there is none.
//
// Memory order: the flush of a release completes what the holder did, before the
// CAS of the tail or the store of the grant lets anybody go on. The flush of the
// clearing store keeps it from undoing a later hand-over.
//
// Cost, away from home: one swap to acquire, one CAS to release. Behind a
// predecessor the rank awaits that one's word, polled from afar where ranks share
// no memory, as in CLH, and clears it; handing over touches the own word. An
// additional lock of a set costs one word altogether.
type hemlock struct {
	s     *seat
	tail  word
	grant word   // of the own rank
	place uint64 // what the tail holds of the rank, or is to hold next
	ident uint64 // of the lock in a grant
	hemlockVariant
}

// hemlockVariant is how a hemlock differs from the base algorithm.
type hemlockVariant struct{ ctr, ah bool }

// The fields of the words.
const (
	hemTurn  = 1
	hemLock  = 1<<32 - 1 // lock and turn
	hemGrant = 32        // shift
)

// newHemlock is the lock for a rank.
func newHemlock(variant hemlockVariant) func(*seat) inner {
	return func(s *seat) inner {
		h := apart(hemlock{
			s: s, tail: s.atHome(0), grant: s.at(s.rank, 0),
			place: (uint64(s.rank) + 1) << 1, ident: s.number << 1,
			hemlockVariant: variant,
		})
		if !h.ah {
			s.goesAlone(lone{tail: h.tail, present: h.place})
		}
		return h
	}
}

func wordsOfHemlock(*topology.Tree, Options) Words { return Words{Home: 1, Rank: 1, Shared: true} }

// enter implements core.
func (h *hemlock) enter(context.Context) (grant uint64, err error) {
	pred, lined := h.s.lone.arrived()
	if !lined {
		pred = h.tail.swap(h.place)
	}
	if pred == 0 {
		return 0, h.s.decided()
	}
	// The predecessor names the lock in the turn in which it stood in the tail.
	theirs := h.s.at(Rank(pred>>1-1), 0)
	named := rma.Is(h.ident | pred&hemTurn).Masked(hemLock)
	word, err := theirs.await(context.Background(), named)
	if err != nil {
		return 0, h.s.fail(err)
	}
	if h.ctr {
		theirs.swap(0)
	} else {
		theirs.store(0)
	}
	theirs.wake()
	return word >> hemGrant, nil
}

// tryEnter implements core.
func (h *hemlock) tryEnter() bool { return h.tail.cas(0, h.place) }

// alone implements inner.
func (h *hemlock) alone() bool { return h.tail.load() == h.place }

// leave implements core.
func (h *hemlock) leave(grant uint64) {
	place := h.place
	h.place ^= hemTurn
	h.s.lone.present = h.place
	if !h.ah && h.last(place) && h.tail.cas(place, 0) {
		return
	}
	if !h.offer(grant<<hemGrant | h.ident | place&hemTurn) {
		return // nobody goes on
	}
	if h.ah && h.last(place) && h.tail.cas(place, 0) {
		h.grant.clear() // those who watch it for another lock do not care
		return
	}
	h.s.gaveWay()
}

// last reports whether the rank may be the last in the queue: a look is cheaper than
// an atomic instruction in vain, but not where it is a round trip.
func (h *hemlock) last(place uint64) bool { return !h.s.direct || h.tail.load() == place }

// offer writes into the own word, as soon as that is free, and reports false if
// the window fails.
func (h *hemlock) offer(named uint64) bool {
	for {
		if h.ctr {
			if h.grant.cas(0, named) {
				h.grant.wake()
				return true
			}
		} else if h.grant.load() == 0 {
			h.grant.publish(named)
			return true
		}
		if _, err := h.grant.await(context.Background(), rma.Is(0)); err != nil {
			return false
		}
	}
}
