package direct

import (
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/park"
	"github.com/orwl/go-orwl/net/internal/considerate"
	"github.com/orwl/go-orwl/net/internal/patience"
	"github.com/orwl/go-orwl/net/rma"
)

// bed is a Sleeper that only rests.
type bed struct{ rests []time.Duration }

func (b *bed) Sleep(rma.Rank, func())   {}
func (b *bed) Wake(rma.Rank)            {}
func (b *bed) Rest(d time.Duration)     { b.rests = append(b.rests, d) }
func (b *bed) window(ranks int) *Window { return NewWindow(0, b.world(ranks)) }

func (b *bed) world(ranks int) *World {
	w := &World{Sleeper: b, Spin: patience.Limits{Most: 16, Elsewhere: true}, Crowd: considerate.Processes(ranks, 1)}
	for range ranks {
		w.Segments = append(w.Segments, Segment{Room: new(Room)})
	}
	return w
}

// TestReturns lets a rank of several processes hand over after it slept, and return: it
// sleeps before it goes on, and then looks at its word for as long as it may.
func TestReturns(t *testing.T) {
	b := new(bed)
	w := b.window(4)
	for len(b.rests) == 0 { // this thread may come too late
		w.slept = true
		for w.spin.Begin() > 0 {
			w.spin.Wasted()
		}
		w.HandedOver()
		if w.Returns(1) == 0 {
			t.Fatal("in a crowd a rank never returns again")
		}
	}
	if looks := w.spin.Begin(); w.slept || looks != 16 {
		t.Errorf("afterwards it looks %d times", looks)
	}
	for _, rest := range b.rests {
		if rest <= 0 {
			t.Errorf("it sleeps for %v", rest)
		}
	}
}

// TestReturnsBeside lets a rank hand over to one that runs, and return: it neither sleeps
// nor goes on at once.
func TestReturnsBeside(t *testing.T) {
	b := new(bed)
	w := b.window(2)
	for spun := false; !spun; { // this thread may come too late
		w.HandedOver()
		handed := w.now()
		w.Returns(1000)
		spun = w.now()-handed >= 100*time.Nanosecond
	}
	if b.rests != nil || w.turns.State() != considerate.Running {
		t.Errorf("it sleeps for %v and is %v", b.rests, w.turns.State())
	}
}

// TestReturnsGoroutine lets a rank among goroutines hand over after it slept, and return.
// It has no Sleeper.
func TestReturnsGoroutine(t *testing.T) {
	world := new(bed).world(4)
	world.Sleeper, world.Places, world.Crowd = nil, make([]*park.Place, 4), considerate.Goroutines(4, 1)
	w := NewWindow(0, world)
	w.slept = true
	for w.slept { // this thread may come too late
		w.HandedOver()
		w.Returns(1)
	}
}
