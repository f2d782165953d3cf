package stencil

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orwl/go-orwl/orwl"
)

// turning is a block that enters phases at times of its own.
type turning struct {
	*stage
	clock atomic.Int64
}

func newTurning() *turning {
	b := new(turning)
	g := &Grid{rt: new(orwl.Runtime), o: Options{Watch: Watch{Clock: func() time.Duration { return time.Duration(b.clock.Load()) }, Live: true}}}
	b.stage = &stage{tile: &tile{grid: g}}
	g.tiles = []*tile{b.tile}
	return b
}

// TestSpent reads what a block does in the middle of phases.
func TestSpent(t *testing.T) {
	b := newTurning()
	for _, step := range []struct {
		at    int64
		enter Phase
		want  [Phases]time.Duration // a moment later
	}{
		{0, Outside, [Phases]time.Duration{Outside: 1}},
		{3, Computing, [Phases]time.Duration{Outside: 3, Computing: 1}},
		{7, Waiting, [Phases]time.Duration{Outside: 3, Computing: 4, Waiting: 1}},
		{9, Computing, [Phases]time.Duration{Outside: 3, Computing: 5, Waiting: 2}},
		{12, Outside, [Phases]time.Duration{Outside: 3, Computing: 7, Waiting: 2}}, // no block goes on
	} {
		b.clock.Store(step.at)
		if step.at > 0 { // before the first change the block is outside
			b.enter(step.enter)
		}
		b.clock.Add(1)
		if got := b.grid.Spent(); got != step.want {
			t.Errorf("at %d: %v, want %v", step.at, got, step.want)
		}
	}
}

// TestSpentWhileItTurns reads while the task of the block goes on: all that is read is of one moment, so
// that it never adds up to more than has passed.
func TestSpentWhileItTurns(t *testing.T) {
	b := newTurning()
	var all sync.WaitGroup
	all.Go(func() {
		for range 20000 {
			b.clock.Add(1)
			b.enter(Computing)
			b.clock.Add(1)
			b.enter(Waiting)
		}
	})
	for range 2000 {
		sum := time.Duration(0)
		for _, spent := range b.grid.Spent() {
			sum += spent
		}
		if now := b.grid.o.Watch.Clock(); sum > now {
			t.Fatalf("the phases are %d long, and it is %d", sum, now)
		}
	}
	all.Wait()
}
