package taskbench

import (
	"cmp"
	"fmt"
	"slices"
)

// plan is a schedule as tasks of ORWL, in their canonical order: first the first step of each
// column, in the order of the steps. Then come the rounds, phase by phase and column by column.
//
//	column 0   first   phase 0  phase 1   phase 0  phase 1   ...
//	column 1   first   phase 0  phase 1   phase 0  phase 1   ...
//	step         0        1        2         3        4
//	rounds       0           0                  1            ...
//
// Steps are counted from the first one of their column. Step n of a column writes field
// n % fields, and all steps of a phase write the same field and have the same inputs.
type plan struct {
	*Schedule
	phases int
	parts  []part
}

// part is a task of a plan: every so many steps of a column.
type part struct {
	column, first, every, rounds int
	inputs                       []int // columns
}

// step is the step of a round.
func (p *part) step(round int) int { return p.first + round*p.every }

// newPlan makes the plan of a schedule, or says why the order above is wrong for it.
func newPlan(s *Schedule) (*plan, error) {
	p := &plan{Schedule: s, phases: s.Fields / gcd(s.Fields, s.sets) * s.sets}
	for c := range s.columns {
		if err := p.orderly(c); err != nil {
			return nil, err
		}
		if col := &s.columns[c]; col.first <= col.last {
			p.parts = append(p.parts, part{column: c, first: col.first, every: 1, rounds: 1, inputs: col.start})
		}
	}
	slices.SortStableFunc(p.parts, func(a, b part) int { return cmp.Compare(a.first, b.first) })
	for phase := range p.phases {
		for c, col := range s.columns {
			first := col.first + 1 + phase
			if first > col.last {
				continue
			}
			p.parts = append(p.parts, part{
				column: c, first: first, every: p.phases, rounds: (col.last-first)/p.phases + 1,
				inputs: s.inputsOf(first, c),
			})
		}
	}
	return p, nil
}

// field is the field that a step of a column writes.
func (p *plan) field(step, c int) int { return (step - p.columns[c].first) % p.Fields }

// orderly reports whether each input of a column is there when its turn comes, and is not
// overwritten before. An input is lag steps behind, counted from the first step of each column.
// It is of the same round or of an earlier one, and younger than the field is old.
func (p *plan) orderly(c int) error {
	col := &p.columns[c]
	before := func(d, lag int) bool { // this column waits for column d, lag steps before
		return lag > 0 || lag == 0 && d < c
	}
	good := func(d int) bool {
		lag := p.columns[d].first + 1 - col.first
		return before(d, lag) && !before(d, lag-p.Fields)
	}
	for _, d := range col.start {
		if p.columns[d].first+1 != col.first {
			return fmt.Errorf("%w %d: -type %s: column %d begins with an input of column %d, which is not in its first step", ErrOrder, p.Number, p.Pattern.Name, c, d)
		}
	}
	if col.first >= col.last {
		return nil
	}
	for set, inputs := range col.inputs {
		for _, d := range inputs {
			if !good(d) {
				return fmt.Errorf("%w %d: -type %s: set %d of column %d reads column %d, which has another turn", ErrOrder, p.Number, p.Pattern.Name, set, c, d)
			}
		}
	}
	return nil
}

// ErrOrder is a graph whose tasks have no repeating order.
var ErrOrder = fmt.Errorf("taskbench: no repeating order for graph")

func gcd(a, b int) int {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}
