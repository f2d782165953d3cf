package taskbench

import (
	"fmt"
	"slices"
)

// Schedule is a graph with all of its dependences looked up. In each pattern of Task Bench the
// steps of a column follow one another without a gap. The first of them may lack inputs that
// have no task yet. Each later one reads all that its set of dependences names.
type Schedule struct {
	Graph
	columns []column
	sets    int
	fixed   bool    // all tasks do the same number of iterations
	loads   []int32 // iterations by step and column, unless fixed
}

// column is what the tasks of a column do.
type column struct {
	first, last int     // steps; no step if first is more than last
	start       []int   // the columns that the first step reads
	inputs      [][]int // the columns that later steps read, by set
}

// NewSchedule looks up the dependences of a graph that [Graph.Choose] has found good.
func NewSchedule(g Graph) (*Schedule, error) {
	s := &Schedule{Graph: g, columns: make([]column, g.Width), sets: g.Sets(), fixed: g.Kernel.Type != LoadImbalance}
	for c := range s.columns {
		s.columns[c].first, s.columns[c].last = g.Steps, -1
	}
	for step := range g.Steps {
		first, count := g.Active(step)
		for c := first; c < first+count; c++ {
			col := &s.columns[c]
			col.first, col.last = min(col.first, step), step
		}
	}
	for c := range s.columns {
		if err := s.look(c); err != nil {
			return nil, err
		}
	}
	if !s.fixed {
		s.loads = make([]int32, g.Steps*g.Width)
		for i := range s.loads {
			s.loads[i] = int32(g.iterations(i/g.Width, i%g.Width))
		}
	}
	return s, nil
}

// look looks up the inputs of a column.
func (s *Schedule) look(c int) error {
	col := &s.columns[c]
	for set := range s.sets {
		inputs := s.Inputs(set, c)
		distinct := slices.Clone(inputs)
		slices.Sort(distinct)
		if len(slices.Compact(distinct)) != len(inputs) {
			return fmt.Errorf("%w %d: -type %s: column %d reads a column twice, with -width %d, -radix %d and -period %d: take more columns, or less of the others",
				ErrGraph, s.Number, s.Pattern.Name, c, s.Width, s.Radix, s.Period)
		}
		col.inputs = append(col.inputs, inputs)
	}
	if col.first <= col.last {
		col.start = s.wanted(col.first, c)
	}
	return nil
}

// wanted are the columns that the pattern has a task read: those with a task in the step before.
func (s *Schedule) wanted(step, c int) (columns []int) {
	first, count := s.Active(step - 1)
	for _, d := range s.Inputs(s.Set(step), c) {
		if first <= d && d < first+count {
			columns = append(columns, d)
		}
	}
	return columns
}

// inputsOf are the columns that the schedule has a task read.
func (s *Schedule) inputsOf(step, c int) []int {
	col := &s.columns[c]
	if step == col.first {
		return col.start
	}
	return col.inputs[s.setOf(step)]
}

// readers are the columns that read a column if they have a task in the next step, by the set
// of that step and the column that is read.
func (s *Schedule) readers() [][][]int {
	readers := make([][][]int, s.sets)
	for set := range readers {
		readers[set] = make([][]int, s.Width)
		for c, col := range s.columns {
			for _, d := range col.inputs[set] {
				readers[set][d] = append(readers[set][d], c)
			}
		}
	}
	return readers
}

// setOf is Graph.Set without a division if there is one set.
func (s *Schedule) setOf(step int) int {
	if s.sets == 1 {
		return 0
	}
	return s.Set(step)
}

// load is how many iterations the kernel does in a task.
func (s *Schedule) load(step, c int) int {
	if s.fixed {
		return s.Kernel.Iterations
	}
	return int(s.loads[step*s.Width+c])
}

// Validate compares the schedule with the pattern, task by task: no task is missing, none is too
// many, and each reads what the pattern says.
func (s *Schedule) Validate() error {
	for step := range s.Steps {
		first, count := s.Active(step)
		for c, col := range s.columns {
			active := first <= c && c < first+count
			if scheduled := col.first <= step && step <= col.last; scheduled != active {
				return fmt.Errorf("%w %d: step %d, column %d: the schedule has a task there: %t, and -type %s: %t", ErrSchedule, s.Number, step, c, scheduled, s.Pattern.Name, active)
			}
			if !active {
				continue
			}
			if got, want := s.inputsOf(step, c), s.wanted(step, c); !slices.Equal(got, want) {
				return fmt.Errorf("%w %d: step %d, column %d: reads the columns %v, and -type %s wants %v", ErrSchedule, s.Number, step, c, got, s.Pattern.Name, want)
			}
		}
	}
	return nil
}

// ErrSchedule is a schedule that is not what the pattern of its graph says.
var ErrSchedule = fmt.Errorf("taskbench: wrong schedule of graph")

// Totals are the sums over all tasks of a schedule.
type Totals struct {
	Tasks, Dependencies, Flops, Bytes int64
	Local, Nonlocal                   int64 // dependencies inside of a node, and between two
}

// Totals counts. The columns are dealt to nodes in contiguous parts; with 0 nodes nothing is
// local or not.
func (s *Schedule) Totals(nodes int) (t Totals) {
	for c, col := range s.columns {
		for step := col.first; step <= col.last; step++ {
			t.Tasks++
			flops, bytes := s.operations(step, c)
			t.Flops, t.Bytes = t.Flops+int64(flops), t.Bytes+int64(bytes)
			inputs := s.inputsOf(step, c)
			t.Dependencies += int64(len(inputs))
			for _, d := range inputs {
				switch {
				case nodes == 0:
				case s.node(c, nodes) == s.node(d, nodes):
					t.Local++
				default:
					t.Nonlocal++
				}
			}
		}
	}
	return t
}

// node is where a column is.
func (s *Schedule) node(c, nodes int) int { return c * nodes / s.Width }
