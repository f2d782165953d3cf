package model

import "fmt"

// The values of Scheduler.Ranks.
const (
	Goroutines = "goroutines"
	Processes  = "processes"
)

// Scheduler describes processors that ranks share. A processor runs one rank at a time.
// A rank that waits looks at its word for as long as that has paid lately, and then sleeps. All times are
// nanoseconds.
type Scheduler struct {
	Ranks      string  `json:"ranks"` // Goroutines or Processes
	Processors int     `json:"processors"`
	Slice      float64 `json:"slice"`   // a rank loses its processor after that, if another is ready
	Change     float64 `json:"change"`  // a processor goes from one rank to the next
	Wake       float64 `json:"wake"`    // the rank that wakes another one takes so long
	Startle    float64 `json:"startle"` // until an idle processor runs a rank that was woken
	Look       float64 `json:"look"`    // a rank that waits looks once at its word
	Slack      float64 `json:"slack"`   // each sleep takes longer by so much
}

func (s *Scheduler) validate(machine string) error {
	switch {
	case s == nil:
		return nil
	case s.Ranks != Goroutines && s.Ranks != Processes:
		return fmt.Errorf("model: machine %q: scheduler: ranks are %q, want %s or %s", machine, s.Ranks, Goroutines, Processes)
	case s.Processors < 1:
		return fmt.Errorf("model: machine %q: scheduler: %d processors, want at least 1", machine, s.Processors)
	}
	for _, t := range []float64{s.Slice, s.Change, s.Wake, s.Startle, s.Look, s.Slack} {
		if t < 0 {
			return fmt.Errorf("model: machine %q: scheduler: a time is negative", machine)
		}
	}
	return nil
}

func (s *Scheduler) String() string {
	return fmt.Sprintf("%s on %d processors: slice %.3g ms, change %.3g ns, wake %.3g ns, startle %.3g ns, look %.3g ns, slack %.3g ns",
		s.Ranks, s.Processors, s.Slice/1e6, s.Change, s.Wake, s.Startle, s.Look, s.Slack)
}
