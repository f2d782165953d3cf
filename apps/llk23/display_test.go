package main

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestDisplay reads a watch as it goes, in the middle of phases and after the end.
func TestDisplay(t *testing.T) {
	now := time.Duration(0)
	clock := func() time.Duration { return now }
	s := &stopwatch{clock: clock}
	s.display(clock)
	for _, step := range []struct {
		at    time.Duration
		enter phase
		want  [phases]time.Duration // a second later
	}{
		{0, outside, [phases]time.Duration{outside: 1}},
		{3, computing, [phases]time.Duration{outside: 3, computing: 1}},
		{7, waiting, [phases]time.Duration{outside: 3, computing: 4, waiting: 1}},
		{9, computing, [phases]time.Duration{outside: 3, computing: 5, waiting: 2}},
	} {
		now = step.at
		s.enter(step.enter)
		now++
		if got := s.shown.read(clock); got != step.want {
			t.Errorf("at %d: %v, want %v", now, got, step.want)
		}
	}
	now = 20
	s.stop(now)
	now = 30
	if got, want := s.shown.read(clock), s.spent; got != want {
		t.Errorf("after the end: %v, want %v", got, want)
	}
}

// TestDisplayWhileItTurns reads while the watch's task turns it: what is read is of one
// moment, so that it never adds up to more than has passed.
func TestDisplayWhileItTurns(t *testing.T) {
	var ticks atomic.Int64
	clock := func() time.Duration { return time.Duration(ticks.Add(1)) }
	s := &stopwatch{clock: clock}
	s.display(clock)
	var all sync.WaitGroup
	all.Go(func() {
		for range 20000 {
			s.enter(computing)
			s.enter(waiting)
		}
		s.stop(clock())
	})
	for range 2000 {
		sum := time.Duration(0)
		for _, spent := range s.shown.read(clock) {
			sum += spent
		}
		if now := clock(); sum >= now {
			t.Fatalf("the phases are %d long, and it is %d", sum, now)
		}
	}
	all.Wait()
	if spent := s.shown.read(clock); spent != s.spent {
		t.Errorf("shows %v in the end, want %v", spent, s.spent)
	}
}
