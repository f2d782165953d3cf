package direct

import (
	"math/bits"
	"sync/atomic"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/net/rma"
)

// Room is where one rank waits, and the one line of memory that others look at
// after they have changed a word of that rank. It lies in memory that all ranks
// share, is valid when zeroed, and is written by its rank except for state and
// Watch. That operations on a rank's words read the line in which the rank says
// that it waits costs them a miss after each of its waits; the other lines that
// a hand-over would touch instead cost it more.
type Room struct {
	// state says whether the rank may have to be woken:
	//
	//	awake ──rank──▶ waiting ──the rank, or whoever makes its condition true──▶ awake
	//
	// Whoever moves it from waiting to awake by CAS owes the rank one wake-up,
	// also if it is the rank itself.
	state atomic.Uint32

	rel         uint32
	target      int64
	disp        int64
	mask, value uint64

	// Watch says whether other ranks await a word of this one.
	Watch Watch

	_ [8]byte // a room is a cache line of its own
}

const (
	awake uint32 = iota
	waiting
)

// watchers is the number of counters in a Watch. There is no room for more: a
// word that has its counter in common with one that is awaited costs whoever
// changes it a look at the waiting list, and nothing else.
const watchers = 4

// Watch says, for the words of one segment by displacement modulo 4, how many ranks
// of the waiting list await them, and whether there may be guests.
type Watch [watchers]atomic.Uint32

func (w *Watch) of(disp rma.Disp) *atomic.Uint32 { return &w[disp&(watchers-1)] }

// expect writes down what the rank is going to wait for. Readers may see a
// mixture of two expectations; the rank looks at its word again after it has
// announced the second, so that a wake-up missed because of the mixture does no
// harm. Ordinary stores are enough, since the exchange of the state comes after
// them, but where the race detector looks.
func (r *Room) expect(target rma.Rank, disp rma.Disp, until rma.Until) {
	if invariant.Enabled {
		atomic.StoreInt64(&r.target, int64(target))
		atomic.StoreInt64(&r.disp, int64(disp))
		atomic.StoreUint64(&r.mask, until.Mask)
		atomic.StoreUint64(&r.value, until.Value)
		atomic.StoreUint32(&r.rel, uint32(until.Rel))
		return
	}
	r.target, r.disp, r.mask, r.value, r.rel = int64(target), int64(disp), until.Mask, until.Value, uint32(until.Rel)
}

// concerns reports whether a change of the word at disp of the room's own rank
// may concern somebody: the rank itself, or those that Watch counts.
func (r *Room) concerns(disp rma.Disp) bool {
	return r.state.Load() == waiting && atomic.LoadInt64(&r.disp) == int64(disp) || r.Watch.of(disp).Load() != 0
}

// wants reports whether the rank waits for a word and would go on if it held
// value.
func (r *Room) wants(target rma.Rank, disp rma.Disp, value uint64) bool {
	if r.state.Load() != waiting || atomic.LoadInt64(&r.disp) != int64(disp) || atomic.LoadInt64(&r.target) != int64(target) {
		return false
	}
	until := rma.Until{Mask: atomic.LoadUint64(&r.mask), Value: atomic.LoadUint64(&r.value), Rel: rma.Relation(atomic.LoadUint32(&r.rel))}
	return until.Holds(value)
}

// doze announces that the rank may have to be woken from now on. It exchanges, since
// the race detector makes of a store to memory that Go has not allocated one that
// later loads may overtake, and then a wake-up can be lost.
func (r *Room) doze() { r.state.Swap(waiting) }

// Awaken moves the room from waiting to awake and reports whether the caller
// did it, and so owes the wake-up.
func (r *Room) Awaken() bool { return r.state.CompareAndSwap(waiting, awake) }

// State is the word to sleep on, for a Sleeper that uses the kernel.
func (r *Room) State() *atomic.Uint32 { return &r.state }

// Waiting reports whether the rank still sleeps or is about to.
func (r *Room) Waiting() bool { return r.state.Load() == waiting }

// A guest is a rank that waits until a word of another rank equals a value. Whoever
// makes it so finds the guest by that value, without a look at anybody else: a
// ticket lock with a hundred waiters looks at one. Place number
//
//	displacement + value >> shift, modulo the number of places
//
// of the word's segment holds the guest, as rank+1. The shift is that of the first
// guest's mask, whose bits above it count; one for all words that share a counter
// of the Watch, for ever. A rank that finds its place taken, has another shift, or
// waits for anything else than equality enters itself into the waiting list.
//
// A place is written by the rank that has taken it from zero, until it gives it
// back.

// The parts of a Watch's counter.
const (
	watchCount = 1<<24 - 1 // ranks in the waiting list
	watchShift = 24        // of the guests' shift, six bits
	watchHosts = 1 << 31   // there has been a guest, and the shift is valid
)

// mostGuests bounds the places of a segment.
const mostGuests = 1024

// GuestPlaces is the length of Guests for a number of ranks: two ranks that draw
// values in turn do not meet.
func GuestPlaces(ranks int) int {
	return min(mostGuests, 1<<bits.Len(uint(ranks-1)))
}

// host gives rank p, which waits for the word at disp, a guest's place, or nil.
func (s *Segment) host(p rma.Rank, disp rma.Disp, until rma.Until) *uint32 {
	if until.Rel != rma.Equal || until.Mask == 0 {
		return nil
	}
	shift := uint32(bits.TrailingZeros64(until.Mask))
	last := uint64(len(s.Guests) - 1)
	if until.Mask>>shift&last != last {
		return nil // two values that it does not tell apart have two places
	}
	counter := s.Room.Watch.of(disp)
	watch := counter.Load()
	for watch&watchHosts == 0 {
		counter.CompareAndSwap(watch, watch|watchHosts|shift<<watchShift)
		watch = counter.Load()
	}
	if watch>>watchShift&63 != shift {
		return nil
	}
	place := s.place(watch, disp, until.Value)
	if atomic.LoadUint32(place) != 0 || !atomic.CompareAndSwapUint32(place, 0, uint32(p)+1) {
		return nil
	}
	return place
}

// place is where the guest is that waits for the word at disp to be value.
func (s *Segment) place(watch uint32, disp rma.Disp, value uint64) *uint32 {
	return &s.Guests[(uint64(disp)+value>>(watch>>watchShift&63))&uint64(len(s.Guests)-1)]
}

// guest is the rank that may wait for the word at disp to be value, plus one.
func (s *Segment) guest(disp rma.Disp, value uint64) uint32 {
	if watch := s.Room.Watch.of(disp).Load(); watch&watchHosts != 0 {
		return atomic.LoadUint32(s.place(watch, disp, value))
	}
	return 0
}

// vacate gives a place back. Nobody waits for that, so that an ordinary store is
// enough, but where the race detector looks.
func vacate(place *uint32) {
	if invariant.Enabled {
		atomic.StoreUint32(place, 0)
	} else {
		*place = 0
	}
}

// Segment is one rank's memory as the other ranks see it.
type Segment struct {
	// Heap is the symmetric memory.
	Heap []uint64
	// Room is where the rank waits.
	Room *Room
	// Waiters is zeroed memory that all ranks share. It has a bit for every
	// other rank that awaits a word of this segment and is none of its guests.
	Waiters []atomic.Uint64
	// Guests is zeroed memory that all ranks share, with GuestPlaces words.
	Guests []uint32
}

// WaiterWords is the length of Waiters for a number of ranks.
func WaiterWords(ranks int) int { return (ranks + 63) / 64 }

// announce makes rank p, which waits for the word at disp, a guest, or else enters
// it into the waiting list.
func (s *Segment) announce(p rma.Rank, disp rma.Disp, until rma.Until) (place *uint32) {
	if place = s.host(p, disp, until); place == nil {
		s.Waiters[p/64].Or(1 << (p % 64))
		s.Room.Watch.of(disp).Add(1)
	}
	return place
}

// withdraw takes back what announce did.
func (s *Segment) withdraw(p rma.Rank, disp rma.Disp, place *uint32) {
	if place != nil {
		vacate(place)
		return
	}
	s.Room.Watch.of(disp).Add(^uint32(0))
	s.Waiters[p/64].And(^(uint64(1) << (p % 64)))
}

// notify wakes every rank that awaits the word and whose condition is true.
func (w *Window) notify(s *Segment, target rma.Rank, disp rma.Disp, word *uint64) {
	w.tell(target, target, disp, word)
	w.tellGuest(s, target, disp, word)
	if s.Room.Watch.of(disp).Load()&watchCount == 0 {
		return
	}
	for i := range s.Waiters {
		for set := s.Waiters[i].Load(); set != 0; set &= set - 1 {
			w.tell(rma.Rank(64*i+bits.TrailingZeros64(set)), target, disp, word)
		}
	}
}

// tellGuest wakes the guest that waits for what the word is.
func (w *Window) tellGuest(s *Segment, target rma.Rank, disp rma.Disp, word *uint64) {
	if p := s.guest(disp, atomic.LoadUint64(word)); p != 0 {
		w.tell(rma.Rank(p-1), target, disp, word)
	}
}

// handOver is the end of a Put to a word for which a rank sleeps that can go on
// with it: it does the Put, and wakes the rank, with one atomic instruction instead
// of two. The exchange that takes the rank's state from it puts the store before all
// that is looked at later. It reports false, with nothing done, if it
// finds no such rank.
func (w *Window) handOver(s *Segment, target rma.Rank, disp rma.Disp, word *uint64, value uint64) bool {
	p, room := target, s.Room
	if !room.wants(target, disp, value) {
		guest := s.guest(disp, value)
		if guest == 0 {
			return false
		}
		p = rma.Rank(guest - 1)
		if room = w.segments[p].Room; !room.wants(target, disp, value) {
			return false
		}
	}
	storeBefore(word, value)
	if room.Awaken() {
		w.world.wake(p)
	} else {
		atomic.AddUint32(&w.fence, 1) // an exchange that fails orders nothing
	}
	if s.Room.Watch.of(disp).Load()&watchCount != 0 || p != target && s.Room.Waiting() {
		w.notify(s, target, disp, word)
	} else if p == target {
		w.tellGuest(s, target, disp, word)
	}
	return true
}

// tell wakes rank p if it awaits the word and its condition is true.
func (w *Window) tell(p, target rma.Rank, disp rma.Disp, word *uint64) {
	room := w.segments[p].Room
	if room.wants(target, disp, atomic.LoadUint64(word)) && room.Awaken() {
		w.world.wake(p)
	}
}
