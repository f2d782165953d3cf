package main

import (
	"time"

	"github.com/orwl/go-orwl/orwl/trace"
)

// phase is what a block, or an exporter, does at a time.
type phase int

const (
	outside   phase = iota // before its first pass, and after its last
	waiting                // for its accesses, and then for a worker
	importing              // neighbours' frontiers
	computing
	exporting // own frontiers
	phases
)

// String is what a trace calls the phase. It tells waits by itself, and outside nothing is
// done.
func (p phase) String() string {
	return [phases]string{"", "", "read", trace.Compute, "write"}[p]
}

// stopwatch adds up how long a block is in each phase. Before the first enter it is
// outside. To read the clock takes as long as to sweep a dozen elements. So an outlet
// takes the time at which its phase began.
type stopwatch struct {
	clock func() time.Duration // since the run began; nil: without trace
	phase phase
	since time.Duration
	spent [phases]time.Duration
	rec   *trace.Recording // of the task that runs; nil: there is no trace
	shown *display         // nil: without readers while it runs
}

// display shows others what the watch has, from now on.
func (s *stopwatch) display(clock func() time.Duration) {
	s.since, s.shown = clock(), new(display)
	s.spent[s.phase] += s.since
	s.shown.show(s, s.phase)
}

// enter begins a phase, unless it is the present one.
func (s *stopwatch) enter(p phase) {
	if p == s.phase || s.clock == nil {
		return
	}
	s.add(s.clock())
	s.phase = p
	s.rec.Region(p.String(), s.since)
	if s.shown != nil {
		s.shown.show(s, p)
	}
}

// rest ends the work in a pass.
func (s *stopwatch) rest(last bool) {
	if last {
		s.enter(outside)
	} else {
		s.enter(waiting)
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
