package taskbench

import (
	"math/bits"
	"slices"
	"strings"
)

// Pattern says which outputs of the step before a task reads.
type Pattern struct {
	Name     string
	periodic bool // Graph.Period is how many sets there are
	shifted  bool // step 1 has set 0
	active   func(g *Graph, step int) (first, count int)
	sets     func(g *Graph) int
	inputs   func(g *Graph, set, column int) []int
}

// patterns are Task Bench's patterns, under its names. Task Bench names random_spread and has no
// rule for it: here it is to spread what random_nearest is to nearest.
var patterns = []*Pattern{
	{Name: "trivial", inputs: func(*Graph, int, int) []int { return nil }},
	{Name: "no_comm", inputs: func(_ *Graph, _, column int) []int { return []int{column} }},
	{Name: "stencil_1d", inputs: stencil},
	{Name: "stencil_1d_periodic", inputs: stencilPeriodic},
	{Name: "dom", active: domActive, inputs: func(_ *Graph, _, column int) []int { return span(max(0, column-1), column) }},
	{Name: "tree", active: treeActive, inputs: func(_ *Graph, _, column int) []int { return []int{column / 2} }},
	{Name: "fft", shifted: true, sets: func(g *Graph) int { return max(1, bits.Len(uint(g.Width-1))) }, inputs: butterfly},
	{Name: "all_to_all", inputs: func(g *Graph, _, _ int) []int { return span(0, g.Width-1) }},
	{Name: "nearest", inputs: func(g *Graph, _, column int) []int { return nearest(g, column) }},
	{Name: "spread", periodic: true, sets: period, inputs: spread},
	{Name: "random_nearest", periodic: true, sets: period, inputs: func(g *Graph, set, column int) []int {
		return chosen(g, set, column, near(g, column))
	}},
	{Name: "random_spread", periodic: true, sets: period, inputs: func(g *Graph, set, column int) []int {
		return chosen(g, set, column, spread(g, set, column))
	}},
}

// PatternByName returns the pattern with this name.
func PatternByName(name string) (p *Pattern, ok bool) {
	i := slices.IndexFunc(patterns, func(p *Pattern) bool { return p.Name == name })
	if i < 0 {
		return nil, false
	}
	return patterns[i], true
}

// PatternNames are the names of all patterns: "trivial, no_comm, ...".
func PatternNames() string {
	var names []string
	for _, p := range patterns {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}

// span is the columns from first to last.
func span(first, last int) (columns []int) {
	for c := first; c <= last; c++ {
		columns = append(columns, c)
	}
	return columns
}

func period(g *Graph) int { return g.Period }

func stencil(g *Graph, _, column int) []int {
	return span(max(0, column-1), min(column+1, g.Width-1))
}

// stencilPeriodic closes the row to a ring. The columns beyond the ends come last.
func stencilPeriodic(g *Graph, set, column int) []int {
	columns := stencil(g, set, column)
	if column == 0 {
		columns = append(columns, g.Width-1)
	}
	if column == g.Width-1 {
		columns = append(columns, 0)
	}
	return columns
}

// domActive is a wave front that crosses the columns from the left to the right.
func domActive(g *Graph, step int) (first, count int) {
	return max(0, step+g.Width-g.Steps), min(g.Width, step+1, g.Steps-step)
}

// treeActive doubles the columns in each step until all are active.
func treeActive(g *Graph, step int) (first, count int) {
	if step >= bits.Len(uint(g.Width)) {
		return 0, g.Width
	}
	return 0, min(g.Width, 1<<step)
}

// butterfly is the exchange of a fast Fourier transform.
func butterfly(g *Graph, set, column int) (columns []int) {
	for _, c := range []int{column - 1<<set, column, column + 1<<set} {
		if 0 <= c && c < g.Width {
			columns = append(columns, c)
		}
	}
	return columns
}

// near are the columns around this one, as many as the radix. There is one even for radix 0.
func near(g *Graph, column int) []int {
	return span(max(0, column-g.Radix/2), min(column+(g.Radix-1)/2, g.Width-1))
}

func nearest(g *Graph, column int) []int {
	if g.Radix == 0 {
		return nil
	}
	return near(g, column)
}

// spread is columns at equal distances. All but the first move on from set to set.
func spread(g *Graph, set, column int) []int {
	columns := make([]int, g.Radix)
	for i := range columns {
		columns[i] = column + i*g.Width/g.Radix
		if i > 0 {
			columns[i] += set
		}
		columns[i] %= g.Width
	}
	return columns
}

// chosen draws columns from candidates. The own one is always among them, unless the radix is 0.
func chosen(g *Graph, set, column int, candidates []int) (columns []int) {
	for _, c := range candidates {
		drawn := uniform(g.Number, g.Radix, set, c, column) < g.Fraction
		if drawn || g.Radix > 0 && c == column {
			columns = append(columns, c)
		}
	}
	return columns
}
