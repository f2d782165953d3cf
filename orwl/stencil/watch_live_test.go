package stencil

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/orwl"
)

// turning is a block that enters phases at times of its own.
type turning struct {
	*piece
	clock atomic.Int64
}

func newTurning() *turning {
	b := new(turning)
	g := &Grid{rt: new(orwl.Runtime), o: Options{Clock: func() time.Duration { return time.Duration(b.clock.Load()) }, Live: true}}
	b.piece = &piece{tile: &tile{grid: g}}
	g.tiles = []*tile{b.tile}
	return b
}

// TestSpent reads what a block does in the middle of phases.
func TestSpent(t *testing.T) {
	b := newTurning()
	for _, step := range []struct {
		at    int64
		enter Phase
		want  [phases]time.Duration // a moment later
	}{
		{0, Outside, [phases]time.Duration{Outside: 1}},
		{3, Computing, [phases]time.Duration{Outside: 3, Computing: 1}},
		{7, Waiting, [phases]time.Duration{Outside: 3, Computing: 4, Waiting: 1}},
		{9, Computing, [phases]time.Duration{Outside: 3, Computing: 5, Waiting: 2}},
		{12, Outside, [phases]time.Duration{Outside: 3, Computing: 7, Waiting: 2}}, // no block goes on
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

// TestSpentOfTwo reads when one of two blocks has ended, and the other one goes on.
func TestSpentOfTwo(t *testing.T) {
	for ended := range 2 {
		blocks := [2]*turning{newTurning(), newTurning()}
		for i, b := range blocks {
			b.clock.Store(3)
			b.enter(Computing)
			if i == ended {
				b.clock.Store(5)
				b.enter(Outside)
			}
			b.clock.Store(9)
		}
		g := blocks[0].grid
		g.tiles = []*tile{blocks[0].tile, blocks[1].tile}
		if got, want := g.Spent(), ([phases]time.Duration{Outside: 3 + 3 + 4, Computing: 2 + 6}); got != want {
			t.Errorf("block %d has ended: %v, want %v", ended, got, want)
		}
	}
}

// TestSpentInTheMiddle reads when a task has stored one of two words: it reads again until the other one is there.
func TestSpentInTheMiddle(t *testing.T) {
	b := newTurning()
	b.clock.Store(3)
	b.enter(Computing)
	b.clock.Store(5)
	live := &b.watch.live
	live.turn.Add(1)
	live.spent[Computing].Store(2)
	read := make(chan [phases]time.Duration)
	go func() { read <- b.grid.Spent() }()
	for range 1000 {
		runtime.Gosched()
	}
	live.at.Store(5<<phaseBits | uint64(Waiting))
	live.turn.Add(1)
	if got, want := <-read, ([phases]time.Duration{Outside: 3, Computing: 2}); got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestSpentWhileItTurns reads while the task of the block goes on. All words are of one moment: so the phases that
// have ended add up to the time when the present one began.
func TestSpentWhileItTurns(t *testing.T) {
	b := newTurning()
	var enough atomic.Bool
	var all sync.WaitGroup
	all.Go(func() {
		for !enough.Load() {
			b.clock.Add(1)
			b.enter(Computing)
			b.clock.Add(1)
			b.enter(Waiting)
		}
	})
	for range rings.Sampling(2_000_000, 200_000) { // so that some of them meet a change, on a busy machine, too
		spent, _, at, _ := b.watch.live.read()
		sum := time.Duration(0)
		for _, s := range spent {
			sum += s
		}
		if sum != at {
			t.Errorf("the phases until %d add up to %d", at, sum)
			break
		}
	}
	enough.Store(true)
	all.Wait()
}
