package tune

import (
	"context"
	"fmt"
	"math"

	"github.com/orwl/go-orwl/lab"
	"github.com/orwl/go-orwl/lab/arena"
	"github.com/orwl/go-orwl/net/rma/model"
)

// Workload is what a lock is for: the cases of a plan, with each candidate as its lock.
type Workload struct {
	Plan lab.Plan
	// Figure is the cost: a figure of package lab. Less is better. Of several cases, the
	// geometric mean counts.
	Figure string
	Bounds Bounds
}

// Play plays all cases with a candidate on a window, for a length. machine is for the simulator.
func (w Workload) Play(ctx context.Context, c Candidate, window string, length lab.Length, machine model.Model) (Score, error) {
	plan := w.Plan
	plan.Locks, plan.Options, plan.Windows, plan.Length = []lab.Lock{c.Lock}, c.Options, []string{window}, length
	plan.Uncounted = true
	cases, skipped := plan.Cases()
	if len(cases) == 0 {
		return Score{}, fmt.Errorf("tune: there is nothing to play: %v", skipped)
	}
	var s Score
	logs := 0.0
	for _, one := range cases {
		samples, err := arena.Play(ctx, one, arena.Options{Machine: machine})
		if err != nil {
			return s, fmt.Errorf("%s of %s: %w", one.Benchmark, one.Lock, err)
		}
		result, err := lab.Summarize(one, samples)
		if err != nil {
			return s, err
		}
		logs += math.Log(figure(result, w.Figure, math.Inf(1)))
		s.CV = max(s.CV, figure(result, lab.FigureFairness, 0))
		s.Wait = max(s.Wait, figure(result, lab.FigureWait+" p99", 0))
	}
	s.Cost = math.Exp(logs / float64(len(cases)))
	s.Beyond = w.Bounds.beyond(s)
	return s, nil
}

// figure is the median of a figure. A run in which no rank had a turn has none.
func figure(r lab.Result, name string, none float64) float64 {
	if f, ok := r.Figure(name); ok {
		return f.Median
	}
	return none
}
