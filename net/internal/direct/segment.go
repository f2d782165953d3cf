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
	// other rank that awaits a word of this segment.
	Waiters []atomic.Uint64
}

// WaiterWords is the length of Waiters for a number of ranks.
func WaiterWords(ranks int) int { return (ranks + 63) / 64 }

// announce enters rank p into the waiting list.
func (s *Segment) announce(p rma.Rank, disp rma.Disp) {
	s.Waiters[p/64].Or(1 << (p % 64))
	s.Room.Watch.of(disp).Add(1)
}

// withdraw takes rank p out of the waiting list.
func (s *Segment) withdraw(p rma.Rank, disp rma.Disp) {
	s.Room.Watch.of(disp).Add(^uint32(0))
	s.Waiters[p/64].And(^(uint64(1) << (p % 64)))
}

// notify wakes every rank that awaits the word and whose condition is true.
func (w *Window) notify(s *Segment, target rma.Rank, disp rma.Disp, word *uint64) {
	w.tell(target, target, disp, word)
	if s.Room.Watch.of(disp).Load() == 0 {
		return
	}
	for i := range s.Waiters {
		for set := s.Waiters[i].Load(); set != 0; set &= set - 1 {
			w.tell(rma.Rank(64*i+bits.TrailingZeros64(set)), target, disp, word)
		}
	}
}

// tell wakes rank p if it awaits the word and its condition is true.
func (w *Window) tell(p, target rma.Rank, disp rma.Disp, word *uint64) {
	room := w.segments[p].Room
	if room.wants(target, disp, atomic.LoadUint64(word)) && room.Awaken() {
		w.world.wake(p)
	}
}
