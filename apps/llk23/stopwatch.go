package main

import "time"

// phase is what a rank does at a time.
type phase int

const (
	waiting phase = iota // for a neighbour's row, or for the others to end
	computing
	moving // a row
	phases
)

// stopwatch adds up how long a rank is in each phase. Before the first enter it
// is waiting.
type stopwatch struct {
	clock func() time.Duration // since the sweep began
	phase phase
	since time.Duration
	spent [phases]time.Duration
}

func (s *stopwatch) enter(p phase) {
	if p == s.phase {
		return
	}
	now := s.clock()
	s.spent[s.phase] += now - s.since
	s.phase, s.since = p, now
}

// stop ends the current phase.
func (s *stopwatch) stop(now time.Duration) {
	s.spent[s.phase] += now - s.since
	s.since = now
}
