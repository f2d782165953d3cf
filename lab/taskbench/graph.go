package taskbench

import (
	"errors"
	"fmt"
)

// Graph is a task graph, by the parameters of Task Bench. A task is a point of it: a step and
// a column.
type Graph struct {
	Number   int // among the graphs of a run, counted from 0; it seeds what is random
	Steps    int
	Width    int // columns
	Pattern  *Pattern
	Radix    int     // how many columns a task reads, in the patterns that have a choice
	Period   int     // after how many steps the pattern repeats, in the patterns that have a choice
	Fraction float64 // how many of its candidates a task reads, in the random patterns
	Kernel   Kernel
	Output   int // bytes of a task
	Scratch  int // bytes of a column, for the kernel
	Fields   int // how many outputs of a column are kept
}

// NewGraph returns graph number i with Task Bench's defaults. Its Period and Fields are 0:
// [Graph.Choose] sets them.
func NewGraph(i int) Graph {
	return Graph{
		Number: i, Steps: 4, Width: 4, Pattern: patterns[0], Radix: 3, Fraction: 0.25,
		Kernel: Kernel{Type: Empty, Samples: 16}, Output: pairBytes,
	}
}

// ErrGraph is a graph that makes no sense.
var ErrGraph = errors.New("taskbench: wrong graph")

// Choose sets the Period and the Fields that are 0 to their defaults, and checks the graph.
func (g *Graph) Choose() error {
	if g.Period == 0 && g.Pattern.periodic {
		g.Period = defaultPeriod
	}
	if err := g.check(); err != nil {
		return err
	}
	if g.Fields == 0 {
		g.Fields = max(leastFields, g.Sets())
	}
	return nil
}

const (
	defaultPeriod = 3
	leastFields   = 2 // others still read the last step while a column writes this one
	mostPoints    = 1 << 31
)

// check checks each parameter.
func (g *Graph) check() error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%w %d: %s", ErrGraph, g.Number, fmt.Sprintf(format, args...))
	}
	switch {
	case g.Steps < 1 || g.Width < 1 || g.Steps > mostPoints/g.Width:
		return wrong("-steps %d and -width %d: want at least 1 of each, and at most %d points", g.Steps, g.Width, mostPoints)
	case g.Radix < 0:
		return wrong("-radix %d: want at least 0", g.Radix)
	case g.Fraction < 0 || g.Fraction > 1 || g.Fraction != g.Fraction:
		return wrong("-fraction %v: want 0 to 1", g.Fraction)
	case g.Period != 0 && !g.Pattern.periodic:
		return wrong("-period %d: -type %s has no period to choose", g.Period, g.Pattern.Name)
	case g.Period < 0 || g.Period > max(g.Steps, defaultPeriod):
		return wrong("-period %d: want 1 to %d", g.Period, max(g.Steps, defaultPeriod))
	case g.Output < pairBytes || g.Output%pairBytes != 0:
		return wrong("-output %d: want a multiple of %d that is not 0", g.Output, pairBytes)
	case g.Scratch < 0 || g.Scratch%8 != 0:
		return wrong("-scratch %d: want a multiple of 8, 0 for none", g.Scratch)
	case g.Fields != 0 && g.Fields < leastFields:
		return wrong("-field %d: want at least %d, since others read the last step while a column writes this one", g.Fields, leastFields)
	}
	if why := g.Kernel.check(g.Scratch); why != "" {
		return wrong("%s", why)
	}
	return nil
}

// Active returns the first column that has a task in a step, and how many do. Before step 0
// there are none.
func (g *Graph) Active(step int) (first, count int) {
	if step < 0 {
		return 0, 0
	}
	if g.Pattern.active == nil {
		return 0, g.Width
	}
	return g.Pattern.active(g, step)
}

// Sets is how many sets of dependences the pattern has. Steps take them in turn.
func (g *Graph) Sets() int {
	if g.Pattern.sets == nil {
		return 1
	}
	return g.Pattern.sets(g)
}

// Set is the set of dependences of a step.
func (g *Graph) Set(step int) int {
	sets := g.Sets()
	if g.Pattern.shifted {
		step += sets - 1
	}
	return step % sets
}

// Inputs are the columns that a task in this column reads, in a step with this set of
// dependences. Those that have no task in the step before are among them.
func (g *Graph) Inputs(set, column int) []int { return g.Pattern.inputs(g, set, column) }
