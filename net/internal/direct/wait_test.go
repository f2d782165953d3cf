package direct

import (
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/orwl/go-orwl/net/rma"
)

// A room is a cache line: no less, or two ranks share one; no more, or a
// hand-over touches two.
func TestRoomIsALine(t *testing.T) {
	if size := unsafe.Sizeof(Room{}); size != 64 {
		t.Errorf("a room has %d bytes, want 64", size)
	}
}

// TestRoomConcerns asks a zeroed room, one that waits, and one that others
// watch, about the word awaited and about others.
func TestRoomConcerns(t *testing.T) {
	const word = rma.Disp(7)
	asleep := func(r *Room) {
		r.expect(3, word, rma.Is(1))
		r.doze()
	}
	for name, c := range map[string]struct {
		prepare func(r *Room)
		want    map[rma.Disp]bool
	}{
		"zeroed":  {func(*Room) {}, map[rma.Disp]bool{0: false, word: false}},
		"waits":   {asleep, map[rma.Disp]bool{0: false, word: true, word + watchers: false}},
		"watched": {func(r *Room) { r.Watch.of(word).Add(1) }, map[rma.Disp]bool{0: false, word: true, word + watchers: true}},
		"woken": {func(r *Room) {
			asleep(r)
			if !r.Awaken() || r.Awaken() {
				t.Error("not woken once")
			}
		}, map[rma.Disp]bool{0: false, word: false}},
	} {
		r := new(Room)
		c.prepare(r)
		for disp, want := range c.want {
			if got := r.concerns(disp); got != want {
				t.Errorf("%s: a change at %d concerns a rank: %v, want %v", name, disp, got, want)
			}
		}
	}
}

func hall(ranks int) *Segment {
	return &Segment{
		Heap: make([]uint64, 8), Room: new(Room),
		Waiters: make([]atomic.Uint64, WaiterWords(ranks)), Guests: make([]uint32, GuestPlaces(ranks)),
	}
}

// TestRoomWants asks a room that waits for one word, in one way, about that word and
// about others.
func TestRoomWants(t *testing.T) {
	const rank, word = rma.Rank(1<<20 + 5), rma.Disp(1<<40 + 7)
	for _, until := range []rma.Until{
		rma.Is(4), rma.IsNot(4), rma.Below(4), rma.AtLeast(4), rma.Is(4 << 8).Masked(0xff00), rma.AtLeast(^uint64(2)),
	} {
		r := new(Room)
		r.expect(rank-1, word+1, rma.Is(9)) // of an earlier wait
		r.expect(rank, word, until)
		for _, value := range []uint64{0, 3, 4, 5, 0x1234_04ff, ^uint64(0)} {
			if r.wants(rank, word, value) {
				t.Errorf("until %v: a rank that does not wait wants %d", until, value)
			}
			r.doze()
			if got, want := r.wants(rank, word, value), until.Holds(value); got != want {
				t.Errorf("until %v: the rank wants %d: %v, want %v", until, value, got, want)
			}
			if r.wants(rank+1, word, value) || r.wants(rank, word+watchers, value) || r.wants(rank&0xff, word, value) {
				t.Errorf("until %v: the rank wants %d at another word", until, value)
			}
			r.Awaken()
		}
	}
}

// TestGuests asks which ranks get a place, and looks for them by the value.
func TestGuests(t *testing.T) {
	const disp, top = rma.Disp(5), 0xffff_ffff << 32
	type ask struct {
		p     rma.Rank
		until rma.Until
		place bool
	}
	for name, asks := range map[string][]ask{
		"values in turn":            {{0, rma.Is(7), true}, {1, rma.Is(8), true}, {2, rma.Is(9), true}, {3, rma.Is(10), true}},
		"one value":                 {{0, rma.Is(7), true}, {1, rma.Is(7), false}},
		"values that meet":          {{0, rma.Is(7), true}, {1, rma.Is(11), false}},
		"the upper half":            {{0, rma.Is(7 << 32).Masked(top), true}, {1, rma.Is(8 << 32).Masked(top), true}},
		"another shift":             {{0, rma.Is(7 << 32).Masked(top), true}, {1, rma.Is(8), false}},
		"no equality":               {{0, rma.IsNot(7), false}, {1, rma.AtLeast(7), false}, {2, rma.Below(7), false}},
		"a mask that is too narrow": {{0, rma.Is(1).Masked(1), false}, {1, rma.Is(5).Masked(5), false}, {2, rma.Is(0).Masked(0), false}},
		"the top of the mask":       {{0, rma.Is(3 << 62).Masked(3 << 62), true}},
	} {
		s := hall(4)
		for _, a := range asks {
			place := s.host(a.p, disp, a.until)
			if (place != nil) != a.place {
				t.Errorf("%s: rank %d, until %v: has a place: %v, want %v", name, a.p, a.until, place != nil, a.place)
			}
		}
		for _, a := range asks {
			noise := ^a.until.Mask & 0x1234_5678_9abc_def0 // the mask hides it
			if got := s.guest(disp, a.until.Value|noise); a.place && got != uint32(a.p)+1 {
				t.Errorf("%s: for %v there is guest %d, want %d", name, a.until, got, a.p+1)
			}
		}
	}
}

// TestGuestLeaves gives a place back, and takes it again.
func TestGuestLeaves(t *testing.T) {
	s := hall(4)
	for p := range rma.Rank(3) {
		place := s.announce(p, 1, rma.Is(40))
		if place == nil || s.guest(1, 40) != uint32(p)+1 || s.guest(1, 41) != 0 {
			t.Fatalf("rank %d is not the guest for 40", p)
		}
		listed := s.announce(p+1, 1, rma.Is(40))
		if listed != nil || s.Waiters[0].Load() != 1<<(p+1) || s.Room.Watch.of(1).Load()&watchCount != 1 {
			t.Fatalf("rank %d, which finds the place taken, is not in the waiting list", p+1)
		}
		s.withdraw(p+1, 1, listed)
		s.withdraw(p, 1, place)
		if s.guest(1, 40) != 0 || s.Waiters[0].Load() != 0 || s.Room.Watch.of(1).Load()&watchCount != 0 {
			t.Fatalf("rank %d has left something behind", p)
		}
	}
}
