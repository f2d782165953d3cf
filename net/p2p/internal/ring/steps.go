package ring

import "github.com/orwl/go-orwl/internal/invariant"

// steps are between what a goroutine does to words and bytes that others use. A lock counts as one step: what is done
// while it is held changes one word at most.
type steps struct{ probe probe }

// probe lets the simulator stop a goroutine between two steps. It is told of each step before it is made, and of the
// value that the step has seen.
type probe interface {
	point()
	saw(v uint64)
}

func (s *steps) point() {
	if invariant.Enabled && s.probe != nil {
		s.probe.point()
	}
}

// saw returns the value.
func (s *steps) saw(v uint64) uint64 {
	if invariant.Enabled && s.probe != nil {
		s.probe.saw(v)
	}
	return v
}
