package direct

import (
	"context"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/net/internal/considerate"
	"github.com/orwl/go-orwl/net/rma"
)

// A rank that waits can be found in three places. A rank that has changed a word
// looks at them in this order:
//
//	the Room of the word's rank   that rank waits for a word of its own
//	the guests of its Segment     another rank waits until a word equals a value
//	the list of its Segment       another rank waits for anything else
//
// The Watch in the Room says whether the guests and the list are worth a look.

// Segment is one rank's memory as the other ranks see it.
type Segment struct {
	// Heap is the symmetric memory.
	Heap []uint64
	// Room is where the rank waits.
	Room *Room
	// Waiters is zeroed memory that all ranks share: the list. It has one bit for
	// each rank that is in it.
	Waiters []atomic.Uint64
	// Guests is zeroed memory that all ranks share, with GuestPlaces words.
	Guests []uint32
}

// WaiterWords is the length of Waiters for a number of ranks.
func WaiterWords(ranks int) int { return (ranks + 63) / 64 }

// Room says whether a rank waits, and for what. It is one line of memory. All
// ranks share it, and zeroed memory is a valid Room. Only the rank itself writes
// it, except for state and Watch.
//
// The first operation on a rank's words after each of its waits misses the cache
// here. Any other place for the same facts costs a second line for each hand-over.
type Room struct {
	// state says whether another rank may have to wake this one:
	//
	//	awake ──the rank──▶ waiting ──any rank, by CAS──▶ awake
	//
	// The CAS that succeeds owes the rank one wake-up, also if the rank made it.
	state atomic.Uint32
	_     uint32

	// The word that the rank waits for, and until when.
	disp        atomic.Int64
	source      atomic.Uint64 // the word's rank and the relation: see source
	mask, value atomic.Uint64

	// Watch says whether other ranks wait for words of this one.
	Watch Watch

	_ [8]byte // two Rooms must not share a line
}

const (
	awake uint32 = iota
	waiting
)

// source packs the rank of an awaited word and the relation into one word.
func source(target rma.Rank, rel rma.Relation) uint64 { return uint64(target)<<8 | uint64(rel) }

// expect writes down what the rank is going to wait for. Most ranks wait for the
// same word again and again, and a load costs a tenth of an atomic store, so it
// stores only what has changed.
//
// Another rank may read a mixture of two expectations. The proof in the package
// documentation allows for that.
func (r *Room) expect(target rma.Rank, disp rma.Disp, until rma.Until) {
	if r.disp.Load() != int64(disp) {
		r.disp.Store(int64(disp))
	}
	if from := source(target, until.Rel); r.source.Load() != from {
		r.source.Store(from)
	}
	if r.mask.Load() != until.Mask {
		r.mask.Store(until.Mask)
	}
	if r.value.Load() != until.Value {
		r.value.Store(until.Value)
	}
}

// concerns reports whether a rank may wait for the word at disp of the Room's own
// rank.
func (r *Room) concerns(disp rma.Disp) bool {
	return r.state.Load() == waiting && r.disp.Load() == int64(disp) || r.Watch.of(disp).Load() != 0
}

// wants reports whether the rank waits for a word, and goes on if the word holds
// value.
func (r *Room) wants(target rma.Rank, disp rma.Disp, value uint64) bool {
	if r.state.Load() != waiting || r.disp.Load() != int64(disp) {
		return false
	}
	from := r.source.Load()
	until := rma.Until{Mask: r.mask.Load(), Value: r.value.Load(), Rel: rma.Relation(from)}
	return from == source(target, until.Rel) && until.Holds(value)
}

// doze announces that another rank may have to wake this one from now on. It
// swaps instead of storing: in memory that Go has not allocated, the race detector
// turns a store into one that later loads may overtake, and a wake-up gets lost.
func (r *Room) doze() { r.state.Swap(waiting) }

// Awaken moves the Room from waiting to awake. It reports whether this call did
// it: then the caller owes the wake-up.
func (r *Room) Awaken() bool { return r.state.CompareAndSwap(waiting, awake) }

// State is the word that a Sleeper of the kernel sleeps on.
func (r *Room) State() *atomic.Uint32 { return &r.state }

// Waiting reports whether the rank sleeps or is about to.
func (r *Room) Waiting() bool { return r.state.Load() == waiting }

// Watch has four counters for the words of one segment, by displacement modulo 4.
// The line has no space for more; words that share a counter cost a look at the list.
//
//	bit 31    30      29..24   23..0
//	┌───────┬───┬───────────┬────────────────────────┐
//	│ hosts │ - │ the shift │ ranks in the list      │
//	└───────┴───┴───────────┴────────────────────────┘
//
// hosts says that there has been a guest. From then on the shift is valid and fixed.
type Watch [watchers]atomic.Uint32

const (
	watchers   = 4
	watchCount = 1<<24 - 1
	watchShift = 24
	watchHosts = 1 << 31
)

func (w *Watch) of(disp rma.Disp) *atomic.Uint32 { return &w[disp&(watchers-1)] }

// A guest is a rank that waits until a word of another rank equals a value. A rank
// that stores the value finds the guest by the value, without a look at any other
// rank: a ticket lock with a hundred waiters looks at one. The guest, as rank+1,
// is in place number
//
//	displacement + value >> shift, modulo the number of places
//
// of the word's segment. The shift is the number of low bits that the first
// guest's mask ignores; all words that share a counter of the Watch share it. A
// rank goes to the list if its place is taken, if it has another shift, or if it
// does not wait for equality.
//
// A rank takes a place by changing it from zero. Only this rank writes the place
// until it gives it back.

// mostGuests bounds the places of a segment.
const mostGuests = 1024

// GuestPlaces is the length of Guests for a number of ranks. It is large enough
// that ranks which draw values in turn get different places.
func GuestPlaces(ranks int) int { return min(mostGuests, 1<<bits.Len(uint(ranks-1))) }

// host gives rank p, which waits for the word at disp, a guest's place, or nil.
func (s *Segment) host(p rma.Rank, disp rma.Disp, until rma.Until) *uint32 {
	if until.Rel != rma.Equal || until.Mask == 0 {
		return nil
	}
	shift := uint32(bits.TrailingZeros64(until.Mask))
	last := uint64(len(s.Guests) - 1)
	if until.Mask>>shift&last != last {
		return nil // two values that the mask does not tell apart have two places
	}
	counter := s.Room.Watch.of(disp)
	watch := counter.Load()
	for ; watch&watchHosts == 0; watch = counter.Load() {
		counter.CompareAndSwap(watch, watch|watchHosts|shift<<watchShift)
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

// place is the place of a guest that waits for the word at disp to equal value.
func (s *Segment) place(watch uint32, disp rma.Disp, value uint64) *uint32 {
	return &s.Guests[(uint64(disp)+value>>(watch>>watchShift&63))&uint64(len(s.Guests)-1)]
}

// guest is the rank that may wait for the word at disp to equal value, plus one.
func (s *Segment) guest(disp rma.Disp, value uint64) uint32 {
	if watch := s.Room.Watch.of(disp).Load(); watch&watchHosts != 0 {
		return atomic.LoadUint32(s.place(watch, disp, value))
	}
	return 0
}

// announce makes rank p, which waits for the word at disp, a guest, or else enters
// it into the list.
func (s *Segment) announce(p rma.Rank, disp rma.Disp, until rma.Until) (place *uint32) {
	if place = s.host(p, disp, until); place == nil {
		s.Waiters[p/64].Or(1 << (p % 64))
		s.Room.Watch.of(disp).Add(1)
	}
	return place
}

// withdraw undoes announce.
func (s *Segment) withdraw(p rma.Rank, disp rma.Disp, place *uint32) {
	if place != nil {
		atomic.StoreUint32(place, 0)
		return
	}
	s.Room.Watch.of(disp).Add(^uint32(0))
	s.Waiters[p/64].And(^(uint64(1) << (p % 64)))
}

// notify wakes every rank that awaits the word and can go on now.
func (w *Window) notify(s *Segment, target rma.Rank, disp rma.Disp, word *uint64) {
	w.tell(target, target, disp, word)
	if p := s.guest(disp, atomic.LoadUint64(word)); p != 0 {
		w.tell(rma.Rank(p-1), target, disp, word)
	}
	if s.Room.Watch.of(disp).Load()&watchCount == 0 {
		return
	}
	for i := range s.Waiters {
		for set := s.Waiters[i].Load(); set != 0; set &= set - 1 {
			w.tell(rma.Rank(64*i+bits.TrailingZeros64(set)), target, disp, word)
		}
	}
}

// tell wakes rank p if it awaits the word and can go on now.
func (w *Window) tell(p, target rma.Rank, disp rma.Disp, word *uint64) {
	room := w.segments[p].Room
	if room.wants(target, disp, atomic.LoadUint64(word)) && room.Awaken() {
		w.world.wake(p)
	}
}

// spinRelax is the pauses between two looks at a word, each 40 to 140 cycles. Package patience says how often a
// rank looks.
const spinRelax = 1

// LookTime is how long a look at a word takes on this machine. Processors differ by more than ten times. It is
// the shortest of a few measurements. Longer ones were disturbed.
var LookTime = sync.OnceValue(func() time.Duration {
	const tries, looks = 8, 32
	best := time.Hour
	for range tries {
		begin := time.Now()
		relax(looks * spinRelax)
		best = min(best, time.Since(begin))
	}
	return max(1, best/looks)
})

// now is the time by the rank's own clock, and never 0.
func (w *Window) now() time.Duration { return time.Since(w.start) + 1 }

// HandedOver implements rma.Considerate.
func (w *Window) HandedOver() { w.turns.HandedOver(w.now()) }

// Returns implements rma.Considerate. It does what package considerate says.
func (w *Window) Returns(turns int) (again int) {
	act := w.turns.Returns(turns, w.slept, w.now())
	for ; act.Do != considerate.GoOn; act = w.turns.Next(w.now()) {
		switch act.Do {
		case considerate.Spin:
			relax(spinRelax)
		case considerate.Offer:
			runtime.Gosched()
		case considerate.Sleep:
			w.world.Sleeper.Rest(act.For)
		}
	}
	if act.Look {
		w.spin.Look()
		w.slept = false
	}
	return w.turns.Again()
}

// Await implements rma.Window.
//
// The goroutine parks in this function and not in one below it. A goroutine that
// wakes up pays for every function that it returns from, since the processor
// predicts none of these returns: three more of them were a tenth of a hand-over.
func (w *Window) Await(ctx context.Context, target rma.Rank, disp rma.Disp, until rma.Until) (uint64, error) {
	segment, word := w.near(target, disp)
	if word == nil {
		if segment, word = w.far("Await", target, disp); w.failed.Load() {
			return 0, w.err
		}
	}
	if value := atomic.LoadUint64(word); until.Holds(value) {
		return value, nil
	}
	if value, ok := w.spinOn(word, until); ok {
		return value, nil
	}
	if invariant.Enabled {
		invariant.Check(w.waits.CompareAndSwap(false, true),
			"rank %d waits twice at once: its window is used by two goroutines", w.rank)
		defer w.waits.Store(false)
	}
	w.room.expect(target, disp, until)
	w.word, w.until = word, until
	var place *uint32
	if target != w.rank {
		place = segment.announce(w.rank, disp, until)
	}
	var stop func() bool
	if ctx.Done() != nil {
		stop = context.AfterFunc(ctx, w.nudge)
	}
	for {
		if w.parks {
			w.place.Park()
		} else {
			w.world.Sleeper.Sleep(w.rank, w.dozeOff)
		}
		over, value, err := w.over(ctx)
		if !over {
			continue
		}
		if stop != nil {
			stop()
		}
		if target != w.rank {
			segment.withdraw(w.rank, disp, place)
		}
		return value, err
	}
}

// doze announces that the rank sleeps, and looks a last time whether it should:
// steps 3 and 4 of the package documentation. The window may be in another wait as
// soon as the announcement is made.
func (w *Window) doze() {
	word, until := w.word, w.until
	w.room.doze()
	if (until.Holds(atomic.LoadUint64(word)) || w.nudged.Load()) && w.room.Awaken() {
		w.world.wake(w.rank)
	}
}

// over reports whether a wait ends, and how. A failure of the window comes first,
// then the end of an epoch, then the condition, then the context. It reads the context before the word: if
// a rank makes the condition true and then ends the context, the wait succeeds.
func (w *Window) over(ctx context.Context) (bool, uint64, error) {
	if w.nudged.Load() {
		w.nudged.Store(false) // before it looks for the reason
	}
	if w.failed.Load() {
		return true, 0, w.err
	}
	if e := w.endsOf; e != nil && e.Ended().Load() {
		return true, 0, e.Err()
	}
	ended := ctx.Err()
	if value := atomic.LoadUint64(w.word); w.until.Holds(value) {
		return true, value, nil
	}
	return ended != nil, 0, ended
}

// spinOn looks at the word for a moment, for as long as that has been worth it.
func (w *Window) spinOn(word *uint64, until rma.Until) (uint64, bool) {
	looks := w.spin.Begin()
	for range looks {
		relax(spinRelax)
		if value := atomic.LoadUint64(word); until.Holds(value) {
			w.spin.Paid()
			w.slept = false
			return value, true
		}
	}
	if w.slept = true; looks > 0 {
		w.spin.Wasted()
	}
	return 0, false
}
