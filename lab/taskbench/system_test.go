package taskbench

import (
	"errors"
	"testing"

	"github.com/orwl/go-orwl/internal/native"
)

// named is a graph with a pattern and a kernel.
func named(t testing.TB, pattern string, width, steps int, kernel KernelType) Graph {
	t.Helper()
	g := NewGraph(0)
	var ok bool
	if g.Pattern, ok = PatternByName(pattern); !ok {
		t.Fatalf("no pattern %q", pattern)
	}
	g.Width, g.Steps = width, steps
	g.Kernel = Kernel{Type: kernel, Iterations: 7, Samples: 4, Imbalance: 1}
	if kernel == MemoryBound {
		g.Scratch = 64
	}
	return g
}

// scheduled is the schedule of a good graph.
func scheduled(t testing.TB, g Graph) *Schedule {
	t.Helper()
	if err := g.Choose(); err != nil {
		t.Fatal(err)
	}
	s, err := NewSchedule(g)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	return s
}

// opened are all systems that are installed.
func opened(t *testing.T) map[string]System {
	all := make(map[string]System)
	for _, s := range systems {
		system, err := Open(s.name, Options{Workers: 2})
		if errors.Is(err, native.ErrMissing) {
			t.Logf("without %s: %v", s.name, err)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := system.Close(); err != nil {
				t.Error(err)
			}
		})
		all[s.name] = system
	}
	return all
}

// TestSystems runs each pattern with all kernels, beside each other, on each system. All compute
// the same as a sequential program.
func TestSystems(t *testing.T) {
	all := opened(t)
	for _, p := range patterns {
		var graphs []*Schedule
		var want Result
		for k := range kernelNames {
			g := named(t, p.Name, 7, 23, KernelType(k))
			g.Number = k
			g.Output = (1 + k%2) * pairBytes
			s := scheduled(t, g)
			alone := sequential(s)
			if tasks := s.Totals(0).Tasks; tasks != alone.Tasks {
				t.Fatalf("%s: %d tasks in all, and the sequential program has %d", p.Name, tasks, alone.Tasks)
			}
			graphs = append(graphs, s)
			want.Tasks, want.Checksum = want.Tasks+alone.Tasks, want.Checksum+alone.Checksum
		}
		for name, system := range all {
			got, err := system.Run(t.Context(), graphs)
			if err != nil {
				t.Fatalf("%s: %s: %v", p.Name, name, err)
			}
			if got.Elapsed <= 0 {
				t.Errorf("%s: %s took %v", p.Name, name, got.Elapsed)
			}
			got.Elapsed = 0
			if got != want {
				t.Errorf("%s: %s: %+v, want %+v", p.Name, name, got, want)
			}
		}
	}
}

// sequential is what a graph computes, without any system: it asks the pattern itself.
func sequential(s *Schedule) Result {
	var sum tally
	for step := range s.Steps {
		first, count := s.Active(step)
		for c := first; c < first+count; c++ {
			hash := uint64(0)
			for _, d := range s.wanted(step, c) {
				hash = mix(hash, Pair{int64(step - 1), int64(d)})
			}
			sum.add(tally{tasks: 1, sum: mix(hash, Pair{int64(step), int64(c)})})
		}
	}
	return sum.result(0)
}
