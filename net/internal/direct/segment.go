package direct

import (
	"math/bits"
	"sync/atomic"

	"github.com/orwl/go-orwl/net/rma"
)

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
