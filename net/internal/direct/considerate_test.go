package direct

import (
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/park"
)

// guest is a window among ranks of several processes, of which each offer of the
// processor takes some time.
type guest struct {
	*Window
	offers int
	takes  time.Duration
}

func newGuest(ranks int, crowded bool) *guest {
	g := new(guest)
	s := Spin{Most: 16}
	if crowded {
		s.Yield = func() {
			g.offers++
			for until := g.now() + g.takes; g.now() < until; {
			}
		}
	}
	segments := make([]Segment, ranks)
	for i := range segments {
		segments[i].Room = new(Room)
	}
	g.Window = NewWindow(0, &World{Segments: segments, Spin: s})
	return g
}

// TestMoment gives way to one that runs, also where others sleep: it waits for a moment,
// and does not offer its processor.
func TestMoment(t *testing.T) {
	for _, crowded := range []bool{false, true} {
		g := newGuest(2, crowded)
		for range 3 {
			g.looked = true
			g.HandedOver()
			began := g.since
			if again := g.Returns(ownTurns); again > 0 != crowded {
				t.Errorf("crowded %t: it asks again after %d turns", crowded, again)
			}
			if g.since != 0 || g.now()-began < moment || g.offers != 0 {
				t.Errorf("crowded %t: it has waited for %v, with %d offers", crowded, g.now()-began, g.offers)
			}
		}
	}
	g := newGuest(2, false)
	g.looked = false // it has slept: there is nobody beside it
	g.HandedOver()
	if g.since != 0 || g.Returns(ownTurns) > 0 {
		t.Error("it lets somebody be who sleeps")
	}
}

// TestOwnRun gives way in a run that has hardly begun, and goes on with it.
func TestOwnRun(t *testing.T) {
	g := newGuest(2, false)
	g.looked = true
	for turns, short := 1, 0; turns < ownTurns; turns++ {
		g.HandedOver()
		began := g.since
		g.Returns(1)
		if g.own != turns {
			t.Fatalf("after %d turns of its own it lets somebody be", turns)
		}
		if g.now()-began < moment {
			short++
		}
		if turns == ownTurns-1 && short == 0 {
			t.Error("it waits for a moment in its own run")
		}
	}
	g.HandedOver()
	if g.Returns(1); g.own != 0 {
		t.Errorf("after %d turns of its own it lets nobody be", g.own)
	}
}

// TestEvensOut has longer runs than another goroutine: it lets that one be for longer and
// longer, up to twice as long, until they have as many turns.
func TestEvensOut(t *testing.T) {
	world := &World{Segments: []Segment{{Room: new(Room)}, {Room: new(Room)}}, Places: make([]*park.Place, 2)}
	fast, slow := NewWindow(0, world), NewWindow(1, world)
	runs := func(w *Window, turns int) time.Duration {
		w.own = turns
		began := w.now()
		w.letRun(began)
		return w.now() - began
	}
	for k := range 6 {
		want := min(moment+time.Duration(k+1)*evenOut, 2*moment)
		if long := runs(fast, 40); long < want || fast.more != want-moment {
			t.Errorf("after %d long runs it lets the other one be for %v, %v more than a moment", k+1, long, fast.more)
		}
		if runs(slow, 20); slow.more != 0 {
			t.Fatalf("after shorter runs it lets the other one be for %v more than a moment", slow.more)
		}
	}
	for fast.more > 0 {
		more := fast.more
		runs(slow, 40)
		if runs(fast, 40); fast.more >= more {
			t.Fatalf("with as many turns it lets the other one be for %v more than a moment, before %v", fast.more, more)
		}
	}
}

// TestStaysAway gives way to those who sleep, comes at once, and stays away until they can
// have had their turns; who comes later does not.
func TestStaysAway(t *testing.T) {
	const ranks = 4
	g := newGuest(ranks, true)
	g.spin.looks = 0
	// Another thread may take so long that this one does not come at once.
	for g.offers == 0 {
		g.looked = false
		g.HandedOver()
		if g.Returns(1) == 0 {
			t.Fatal("it does not ask again")
		}
	}
	if away := g.rested; away < ranks*awayElsewhere {
		t.Errorf("it was away until %v", away)
	}
	if !g.looked || g.spin.looks != 16 {
		t.Errorf("afterwards it looks %d times", g.spin.looks)
	}
	g.offers, g.looked = 0, false
	g.HandedOver()
	for g.now() < g.since+atOnce {
	}
	if g.Returns(1) == 0 || g.offers != 0 {
		t.Errorf("who comes late offers its processor %d times", g.offers)
	}
}

// TestProcessorsEnough sleeps beside another goroutine for which there is a processor, too:
// it stays away, and has no runs.
func TestProcessorsEnough(t *testing.T) {
	w := NewWindow(0, &World{Segments: []Segment{{Room: new(Room)}}, Places: make([]*park.Place, 1)})
	for w.rested == 0 {
		w.looked = false
		w.HandedOver()
		if again := w.Returns(turnsHere); again != 0 {
			t.Fatalf("it asks again after %d turns", again)
		}
	}
	if !w.looked || w.rested < awayHere {
		t.Errorf("it was away until %v, and looks afterwards: %t", w.rested, w.looked)
	}
	w.rested = 0
	if w.Returns(turnsHere); w.rested != 0 {
		t.Error("it rests though there are processors for all")
	}
}

// TestRuns has many turns: the rank rests after each run, and not any more when nobody
// has waited, or run, for many runs.
func TestRuns(t *testing.T) {
	g := newGuest(4, true)
	g.looked = true
	g.HandedOver()
	again := g.Returns(1)
	for turn := 2; turn <= turnsElsewhere; turn++ {
		if again != turnsElsewhere-turn+1 {
			t.Fatalf("it asks again after %d turns, and has had %d", again, turn-1)
		}
		again = g.Returns(1)
		if g.offers != turn/turnsElsewhere {
			t.Fatalf("turn %d: %d rests", turn, g.offers)
		}
	}
	for again > 0 { // a rest takes longer if this thread does not run
		if again != turnsElsewhere {
			t.Fatalf("it asks again after %d turns, and has had none", again)
		}
		again = g.Returns(again)
	}
	if g.quiet != quietRuns || g.offers < quietRuns {
		t.Errorf("after %d quiet runs, and %d rests, it does not ask again", g.quiet, g.offers)
	}
	if g.HandedOver(); g.Returns(turnsElsewhere) == 0 || g.quiet != 0 {
		t.Error("it does not rest though somebody has waited")
	}
	g.quiet, g.takes = quietRuns-1, quietRest
	if g.Returns(turnsElsewhere) == 0 || g.quiet != 0 {
		t.Error("it does not rest though others ran when it did")
	}
}

// TestKeepsItsShare rests beside somebody who does not let go of the processor: runs become
// longer, and shorter again when that one is gone.
func TestKeepsItsShare(t *testing.T) {
	const ranks, ran = 4, 10 * time.Microsecond
	rest := func(w *Window, took time.Duration) int {
		began := w.now() - took
		w.rested = began - ran
		w.goesOn(began, 0)
		return w.run
	}
	segments := make([]Segment, ranks)
	for i := range segments {
		segments[i].Room = new(Room)
	}
	w := NewWindow(0, &World{Segments: segments, Places: make([]*park.Place, ranks)})
	if run := rest(w, time.Millisecond/2); run != turnsHere {
		t.Errorf("a rest of half a millisecond makes a run of %d turns", run)
	}
	// The rest may take a little longer than this.
	long := rest(w, 8*time.Millisecond)
	if want := turnsHere * int(8*time.Millisecond/(ran*ranks+1)); long < want {
		t.Errorf("a rest of 8 ms makes a run of %d turns, want %d", long, want)
	}
	if run := rest(w, time.Hour); run != mostTurns {
		t.Errorf("a rest of an hour makes a run of %d turns", run)
	}
	w.run = 2 * turnsHere
	for w.run > turnsHere { // not while the machine has something else to do
		if rest(w, 0); w.run > 2*turnsHere {
			w.run = 2 * turnsHere
		}
	}
	if rest(w, 0) < turnsHere {
		t.Errorf("a run of %d turns", w.run)
	}
	g := newGuest(ranks, true)
	if run := rest(g.Window, time.Hour); run != turnsElsewhere {
		t.Errorf("beside a process that computes: a run of %d turns", run)
	}
}
