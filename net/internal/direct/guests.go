package direct

import (
	"math/bits"
	"sync/atomic"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/net/rma"
)

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
