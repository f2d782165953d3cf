package direct

import (
	"math/bits"
	"sync/atomic"

	"github.com/orwl/go-orwl/net/rma"
)

// watchers is the number of counters in a Watch: a cache line of them.
const watchers = 16

// Watch counts, for the words of one segment by displacement modulo 16, how
// many ranks await them. It is the one load that an operation pays for the
// possibility that somebody waits.
type Watch [watchers]atomic.Uint32

func (w *Watch) of(disp rma.Disp) *atomic.Uint32 { return &w[disp&(watchers-1)] }

// bucket is the counter's number, from 1.
func bucket(disp rma.Disp) int { return int(disp&(watchers-1)) + 1 }

// Segment is one rank's memory as the other ranks see it.
type Segment struct {
	// Heap is the symmetric memory.
	Heap []uint64
	// Watch and Waiters are zeroed memory that all ranks share. Waiters has a
	// bit for every rank that awaits a word of this segment.
	Watch   *Watch
	Waiters []atomic.Uint64
}

// WaiterWords is the length of Waiters for a number of ranks.
func WaiterWords(ranks int) int { return (ranks + 63) / 64 }

// watched reports whether somebody may be waiting for the word.
func (s *Segment) watched(disp rma.Disp) bool { return s.Watch.of(disp).Load() != 0 }

// announce enters rank p into the waiting list.
func (s *Segment) announce(p rma.Rank, disp rma.Disp) {
	s.Waiters[p/64].Or(1 << (p % 64))
	s.Watch.of(disp).Add(1)
}

// withdraw takes rank p out of the waiting list.
func (s *Segment) withdraw(p rma.Rank, disp rma.Disp) {
	s.Watch.of(disp).Add(^uint32(0))
	s.Waiters[p/64].And(^(uint64(1) << (p % 64)))
}

// notify wakes every rank that awaits the word and whose condition is true.
func (w *Window) notify(s *Segment, target rma.Rank, disp rma.Disp, word *uint64) {
	rooms, sleeper := w.world.Rooms, w.world.Sleeper
	for i := range s.Waiters {
		for set := s.Waiters[i].Load(); set != 0; set &= set - 1 {
			p := rma.Rank(64*i + bits.TrailingZeros64(set))
			if rooms[p].wants(target, disp, atomic.LoadUint64(word)) && rooms[p].Awaken() {
				sleeper.Wake(p)
			}
		}
	}
}
