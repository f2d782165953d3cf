package taskbench

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"
)

// synthetic is a system in which a task costs a fixed time beside its kernel.
type synthetic struct{ overhead, iteration time.Duration }

func (synthetic) Close() error { return nil }

func (s synthetic) Run(_ context.Context, graphs []*Schedule) (Result, error) {
	n := graphs[0].Totals(0).Tasks
	each := time.Duration(graphs[0].Kernel.Iterations) * s.iteration
	if graphs[0].Pattern.Name != "trivial" {
		each += s.overhead
	}
	return Result{Elapsed: time.Duration(n) * each / 2, Tasks: n}, nil // on two processors
}

// TestMETG finds the granularity at which a task computes for as long as it costs.
func TestMETG(t *testing.T) {
	for _, c := range []struct {
		system    synthetic
		threshold float64
		want      time.Duration
	}{
		{synthetic{overhead: 1000 * time.Nanosecond, iteration: 3 * time.Nanosecond}, 0.5, 2000 * time.Nanosecond},
		{synthetic{overhead: 1000 * time.Nanosecond, iteration: 3 * time.Nanosecond}, 0.9, 10000 * time.Nanosecond},
		{synthetic{overhead: 40 * time.Nanosecond, iteration: 3 * time.Nanosecond}, 0.5, 80 * time.Nanosecond},
		{synthetic{overhead: 5 * time.Millisecond, iteration: 1000 * time.Nanosecond}, 0.5, 10 * time.Millisecond},
	} {
		g := named(t, "stencil_1d", 4, 100, ComputeBound)
		if err := g.Choose(); err != nil {
			t.Fatal(err)
		}
		m, err := Sweep{Graphs: []Graph{g}, Workers: 2, Threshold: c.threshold, Repeats: 1}.Run(t.Context(), c.system)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Granularity; math.Abs(got/float64(c.want)-1) > 0.02 {
			t.Errorf("%+v at %v: %v ns, want %v", c.system, c.threshold, got, c.want)
		}
		for i, p := range m.Points[1:] {
			if p.Iterations <= m.Points[i].Iterations {
				t.Errorf("point %d has %d iterations, and the one before %d", i+1, p.Iterations, m.Points[i].Iterations)
			}
		}
	}
}

// TestNoMETG is a system that never reaches half of its peak, and a kernel without iterations.
func TestNoMETG(t *testing.T) {
	g := named(t, "stencil_1d", 4, 10, ComputeBound)
	if err := g.Choose(); err != nil {
		t.Fatal(err)
	}
	s := Sweep{Graphs: []Graph{g}, Workers: 2, Threshold: 0.5, Repeats: 1}
	if _, err := s.Run(t.Context(), synthetic{overhead: time.Hour, iteration: time.Nanosecond}); !errors.Is(err, ErrSweep) {
		t.Errorf("an hour for each task: %v", err)
	}
	s.Graphs[0].Kernel.Type = Empty
	if _, err := s.Run(t.Context(), synthetic{}); !errors.Is(err, ErrSweep) {
		t.Errorf("an empty kernel: %v", err)
	}
}
