package main

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orwl/go-orwl/orwl/stencil"
)

// watched is a block whose account is shown.
type watched struct {
	display
	account stencil.Account
	phase   stencil.Phase
	since   time.Duration
}

// enter begins a phase.
func (w *watched) enter(p stencil.Phase, now time.Duration) {
	w.account.Spent[w.phase] += now - w.since
	w.phase, w.since = p, now
	w.show(stencil.Change{Phase: p, At: now, Account: &w.account})
}

// TestDisplay reads a block's account as it goes, in the middle of phases.
func TestDisplay(t *testing.T) {
	now := time.Duration(0)
	clock := func() time.Duration { return now }
	var w watched
	for _, step := range []struct {
		at    time.Duration
		enter stencil.Phase
		want  [stencil.Phases]time.Duration // a second later
	}{
		{0, stencil.Outside, [stencil.Phases]time.Duration{stencil.Outside: 1}},
		{3, stencil.Computing, [stencil.Phases]time.Duration{stencil.Outside: 3, stencil.Computing: 1}},
		{7, stencil.Waiting, [stencil.Phases]time.Duration{stencil.Outside: 3, stencil.Computing: 4, stencil.Waiting: 1}},
		{9, stencil.Computing, [stencil.Phases]time.Duration{stencil.Outside: 3, stencil.Computing: 5, stencil.Waiting: 2}},
	} {
		now = step.at
		if now > 0 { // before the first change the block is outside
			w.enter(step.enter, now)
		}
		now++
		if got := w.read(clock); got != step.want {
			t.Errorf("at %d: %v, want %v", now, got, step.want)
		}
	}
}

// TestDisplayWhileItTurns reads while the task of the block shows more: what is read is of one
// moment, so that it never adds up to more than has passed.
func TestDisplayWhileItTurns(t *testing.T) {
	var ticks atomic.Int64
	clock := func() time.Duration { return time.Duration(ticks.Add(1)) }
	var w watched
	var all sync.WaitGroup
	all.Go(func() {
		for range 20000 {
			w.enter(stencil.Computing, clock())
			w.enter(stencil.Waiting, clock())
		}
	})
	for range 2000 {
		sum := time.Duration(0)
		for _, spent := range w.read(clock) {
			sum += spent
		}
		if now := clock(); sum >= now {
			t.Fatalf("the phases are %d long, and it is %d", sum, now)
		}
	}
	all.Wait()
}
