package main

import (
	"time"

	"github.com/orwl/go-orwl/orwl/trace"
)

// phase is what a task does at a time.
type phase int

const (
	outside   phase = iota // before its first round, and after its last
	waiting                // for an access
	importing              // neighbours' frontiers
	computing
	exporting // own frontiers
	phases
)

// String is what a trace calls the phase. It tells waits by itself, and outside there is
// nothing to tell.
func (p phase) String() string {
	return [phases]string{"", trace.Wait, "read", trace.Compute, "write"}[p]
}

// stopwatch adds up how long a task is in each phase. Before the first enter it
// is outside. Reading a clock takes as long as a dozen elements do, so that what is
// quick (to copy a frontier, to let go of it) has the time at which its phase began.
type stopwatch struct {
	clock func() time.Duration // since the run began; nil: nobody wants to know
	phase phase
	since time.Duration
	spent [phases]time.Duration
	rec   *trace.Recording // nil: nobody wants to see the phases one by one
	shown *display         // nil: nobody looks while it runs
}

// display shows others what the watch has, from now on.
func (s *stopwatch) display(clock func() time.Duration) {
	s.since, s.shown = clock(), new(display)
	s.spent[s.phase] += s.since
	s.shown.show(s, s.phase)
}

func (s *stopwatch) enter(p phase) {
	if p != s.phase && s.clock != nil {
		s.turn(p, s.clock())
	}
}

// turn is enter at a time that is known.
func (s *stopwatch) turn(p phase, now time.Duration) {
	s.add(now)
	if s.phase = p; p != waiting {
		s.rec.Region(p.String(), now)
	}
	if s.shown != nil {
		s.shown.show(s, p)
	}
}

// waited is a wait that the trace has seen, so that both of them say the same.
func (s *stopwatch) waited() {
	if from, to, waited := s.rec.LastWait(); waited {
		before := s.phase
		s.turn(waiting, from)
		s.turn(before, to)
	}
}

// stop ends the current phase, and the watch.
func (s *stopwatch) stop(now time.Duration) {
	s.add(now)
	if s.shown != nil {
		s.shown.show(s, ended)
	}
}

// add counts the time until now for the present phase.
func (s *stopwatch) add(now time.Duration) {
	s.spent[s.phase] += now - s.since
	s.since = now
}
