package lab

import (
	"time"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
)

// Sample is what one rank did in one repeat, after its warm-up.
type Sample struct {
	Rank   rma.Rank      `json:"rank"`
	Repeat int           `json:"repeat"`
	Began  time.Duration `json:"began"` // when the count began, after the fence at which all ranks start
	Time   time.Duration `json:"time"`  // how long the rank was counted
	Turns  uint64        `json:"turns"` // its iterations in this time

	Waits   Histogram `json:"waits"`   // from the beginning to the end of an acquire
	Latency Histogram `json:"latency"` // an acquire and its release together
	Step    Histogram `json:"step"`    // one increment at the partner

	// Counts are the lock's own, if it counts.
	Counts locks.Counts `json:"counts"`
	// From is how often a writer followed a writer, by the finest level that the two ranks have
	// in common: From[0] is a first one, and the last is the rank after itself.
	From []uint64 `json:"from,omitempty"`
	// Remote are operations by level, counted in a run of their own of so many acquisitions.
	Remote  []uint64 `json:"remote,omitempty"`
	Counted uint64   `json:"counted,omitempty"`

	// Values are what only this benchmark measures. Those of all ranks are added up.
	Values map[string]Share `json:"values,omitempty"`
}

// Share is a sum of something, and of what it is divided by.
type Share struct {
	Of float64 `json:"of"`
	By float64 `json:"by"`
}

// value adds to a value.
func (s *Sample) value(name string, of, by float64) {
	if s.Values == nil {
		s.Values = map[string]Share{}
	}
	v := s.Values[name]
	s.Values[name] = Share{v.Of + of, v.By + by}
}

// reset forgets the warm-up.
func (s *Sample) reset() {
	s.Waits.reset()
	s.Latency.reset()
	s.Step.reset()
	clear(s.From)
	clear(s.Values)
	s.Turns = 0
}

// finish makes s ready to travel.
func (s *Sample) finish() {
	s.Waits.finish()
	s.Latency.finish()
	s.Step.finish()
}
