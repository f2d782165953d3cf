package taskbench

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/native"
	"pgregory.net/rapid"
)

// anyGraph is a good graph with any parameters.
func anyGraph(t *rapid.T) *Schedule {
	g := NewGraph(rapid.IntRange(0, 3).Draw(t, "number"))
	g.Pattern = rapid.SampledFrom(patterns).Draw(t, "pattern")
	g.Steps = rapid.IntRange(1, 20).Draw(t, "steps")
	g.Width = rapid.IntRange(1, 20).Draw(t, "width")
	g.Radix = rapid.IntRange(0, 6).Draw(t, "radix")
	if g.Pattern.periodic {
		g.Period = rapid.IntRange(0, min(g.Steps, 5)).Draw(t, "period")
	}
	g.Fraction = rapid.Float64Range(0, 1).Draw(t, "fraction")
	g.Fields = rapid.SampledFrom([]int{0, 2, 3, 4}).Draw(t, "fields")
	if err := g.Choose(); err != nil {
		t.Fatal(err)
	}
	s, err := NewSchedule(g)
	if errors.Is(err, ErrGraph) {
		t.Skip(err) // it would read a column twice
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// play runs the parts of a plan one after another, round by round, which is what ORWL promises to
// compute. It returns what a task read wrongly first, and how many tasks there were.
func (p *plan) play() (wrong *CorruptError, tasks int) {
	fields := make([][]Pair, p.Width)
	for c := range fields {
		fields[c] = make([]Pair, p.Fields)
	}
	for round, left := 0, true; left; round++ {
		left = false
		for _, part := range p.parts {
			if round >= part.rounds {
				continue
			}
			left = true
			tasks++
			step := part.step(round)
			for i, d := range part.inputs {
				want := Pair{int64(step - 1), int64(d)}
				if got := fields[d][p.field(part.first-1, d)]; got != want && wrong == nil {
					wrong = &CorruptError{Task: Pair{int64(step), int64(part.column)}, Input: i, Got: got, Want: want}
				}
			}
			fields[part.column][p.field(part.first, part.column)] = Pair{int64(step), int64(part.column)}
		}
	}
	return wrong, tasks
}

// TestPlan plays the plan of any graph in the canonical order: each task is there once, and reads
// the right outputs and no others. No graph is refused.
func TestPlan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyGraph(t)
		if err := s.Validate(); err != nil {
			t.Fatal(err)
		}
		p, err := newPlan(s)
		if err != nil {
			t.Fatal(err)
		}
		if wrong, tasks := p.play(); wrong != nil || int64(tasks) != s.Totals(0).Tasks {
			t.Fatalf("%d tasks, want %d; %v", tasks, s.Totals(0).Tasks, wrong)
		}
		for _, part := range p.parts {
			for round := range part.rounds {
				if got, want := part.inputs, s.wanted(part.step(round), part.column); !slices.Equal(got, want) {
					t.Fatalf("column %d from step %d announces %v in round %d, and reads %v", part.column, part.first, got, round, want)
				}
			}
		}
	})
}

// TestOrderIsChecked has graphs for which the order of a plan is wrong: newPlan refuses them, and
// without its check the play would find a wrong output.
func TestOrderIsChecked(t *testing.T) {
	for name, spoil := range map[string]func(s *Schedule){
		"one field only":                      func(s *Schedule) { s.Fields = 1 },
		"a column begins two steps late":      func(s *Schedule) { s.columns[1].first += 2 },
		"an input of this step, to the right": func(s *Schedule) { s.columns[0].first++ },
	} {
		s := scheduled(t, named(t, "stencil_1d", 4, 12, Empty))
		spoil(s)
		if _, err := newPlan(s); !errors.Is(err, ErrOrder) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestValidate has schedules that are not what the pattern says.
func TestValidate(t *testing.T) {
	for want, spoil := range map[string]func(s *Schedule){
		"step 1, column 1: reads the columns [0 1]":               func(s *Schedule) { s.columns[1].inputs[0] = []int{0, 1} },
		"step 0, column 2: reads the columns [1]":                 func(s *Schedule) { s.columns[2].start = []int{1} },
		"step 11, column 3: the schedule has a task there: false": func(s *Schedule) { s.columns[3].last-- },
	} {
		s := scheduled(t, named(t, "stencil_1d", 4, 12, Empty))
		spoil(s)
		if err := s.Validate(); !errors.Is(err, ErrSchedule) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestWrongOrder declares the phases of a plan in the wrong order. The program lives, and a task
// finds an output of another step.
func TestWrongOrder(t *testing.T) {
	for _, pattern := range []string{"stencil_1d", "fft", "spread", "dom"} {
		p, err := newPlan(scheduled(t, named(t, pattern, 8, 40, Empty)))
		if err != nil {
			t.Fatal(err)
		}
		slices.Reverse(p.parts[p.Width:])
		_, err = (&ORWL{}).run(t.Context(), []*plan{p})
		var corrupt *CorruptError
		if !errors.As(err, &corrupt) {
			t.Errorf("%s: %v, want a *CorruptError", pattern, err)
		}
	}
}

// TestWrongInput gives a runner an output that is not the one that it has to read.
func TestWrongInput(t *testing.T) {
	g := named(t, "no_comm", 4, 10, Empty)
	g.Output = 2 * pairBytes
	r := runner{schedule: scheduled(t, g), column: 2}
	for _, c := range []struct {
		second Pair
		good   bool
	}{{Pair{4, 2}, true}, {Pair{3, 2}, false}, {Pair{4, 1}, false}} {
		err := r.check(5, [][]Pair{{{4, 2}, c.second}})
		var corrupt *CorruptError
		if good := !errors.As(err, &corrupt); good != c.good {
			t.Errorf("%v in the second place: %v", c.second, err)
		}
		if !c.good && (corrupt.At != 1 || corrupt.Got != c.second || corrupt.Want != Pair{4, 2}) {
			t.Errorf("%v", corrupt)
		}
	}
}

// TestNativePeersCheck has a column write its only output while others still read it. The peers
// in C find that.
func TestNativePeersCheck(t *testing.T) {
	for _, name := range []string{"openmp", "mpi"} {
		system, err := Open(name, Options{Workers: 2})
		if errors.Is(err, native.ErrMissing) {
			t.Logf("without %s: %v", name, err)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		s := scheduled(t, named(t, "stencil_1d", 4, 10, Empty))
		s.Fields = 1
		if _, err := system.Run(t.Context(), []*Schedule{s}); !errors.Is(err, ErrPeer) {
			t.Errorf("%s: %v", name, err)
		}
		if err := system.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
