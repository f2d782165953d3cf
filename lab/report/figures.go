package report

import (
	"fmt"
	"slices"
	"time"

	"github.com/orwl/go-orwl/lab"
)

// Plots are the diagrams of the report: for each benchmark and window, what the paper shows.
func (r *Report) Plots() ([]*Plot, error) {
	groups, err := r.groups()
	if err != nil {
		return nil, err
	}
	var plots []*Plot
	for _, g := range groups {
		plots = append(plots, r.plots(g)...)
	}
	return plots, nil
}

// plots are the diagrams of a group.
func (r *Report) plots(g group) (plots []*Plot) {
	for _, window := range distinct(g.results, func(x lab.Result) string { return x.Window }) {
		on := g
		on.results = filter(g.results, func(x lab.Result) bool { return x.Window == window })
		if g.b.Section != nil {
			plots = append(plots, r.perRanks(on, window, r.spreadPlots)...)
		}
		if g.b.Section == nil && g.b.Sweep == nil {
			plots = append(plots, r.perRanks(on, window, r.valuesPlot)...)
			continue
		}
		if g.b.Sweep != nil {
			plots = append(plots, r.perRanks(on, window, r.sweepPlot)...)
			continue
		}
		plots = append(plots, r.scalingPlot(on, window))
	}
	return slices.DeleteFunc(plots, func(p *Plot) bool { return p == nil })
}

// perRanks draws a diagram for each number of ranks.
func (r *Report) perRanks(g group, window string, draw func(group, string) []*Plot) (plots []*Plot) {
	for _, ranks := range distinct(g.results, func(x lab.Result) int { return x.Ranks }) {
		on := g
		on.results = filter(g.results, func(x lab.Result) bool { return x.Ranks == ranks })
		plots = append(plots, draw(on, fmt.Sprintf("%s, %d ranks", window, ranks))...)
	}
	return plots
}

// scalingPlot has the figure of a benchmark by ranks, a line for each lock; or bars, if all
// results have the same number of ranks.
func (r *Report) scalingPlot(g group, where string) *Plot {
	p := &Plot{Title: fmt.Sprintf("%s on %s: %s", g.b.Name, where, g.b.Figure), X: "ranks", LogX: true}
	ranks := distinct(g.results, func(x lab.Result) int { return x.Ranks })
	lines := r.series(g, g.b.Figure, func(x lab.Result) float64 { return float64(x.Ranks) })
	p.Series = lines
	if len(ranks) == 1 {
		p.X, p.LogX = fmt.Sprintf("%d ranks", ranks[0]), false
		p.Bars = make([]string, 0, len(lines))
		p.Series = []Series{}
		for i, line := range lines {
			p.Bars = append(p.Bars, line.Name)
			for _, v := range line.Points {
				v.X = float64(i)
				p.Series = append(p.Series, Series{Name: line.Name, Colour: line.Colour, Points: []Point{v}})
			}
		}
		p.stacked = true
	}
	p.inUnit(unitOf(g.results, g.b.Figure), g.b.Figure)
	return p.orNil()
}

// sweepPlot has the figure of a benchmark by the parameter that it varies, and for a loop around
// a lock also the overhead, the contention and the fairness, as the paper shows them.
func (r *Report) sweepPlot(g group, where string) (plots []*Plot) {
	shown := []string{g.b.Figure}
	if g.b.Section != nil {
		shown = append(shown, lab.FigureOverhead, lab.FigureContended, lab.FigureFairness)
	}
	if g.b.Section == nil {
		shown = names(g.results)
	}
	step := func(x lab.Result) float64 { return x.Step }
	if g.b.Lockless { // one diagram, a line for each figure
		p := &Plot{Title: fmt.Sprintf("%s on %s", g.b.Name, where), X: g.b.Sweep.Name + ", " + g.b.Sweep.Unit, LogX: true, LogY: true}
		for i, name := range shown {
			for _, line := range r.series(g, name, step) {
				line.Name, line.Colour = name, i
				p.Series = append(p.Series, line)
			}
		}
		p.inUnit(unitOf(g.results, g.b.Figure), "time")
		return []*Plot{p.orNil()}
	}
	for _, name := range shown {
		p := &Plot{Title: fmt.Sprintf("%s on %s: %s", g.b.Name, where, name), X: g.b.Sweep.Name + ", " + g.b.Sweep.Unit, LogX: g.b.Sweep.Log}
		p.Series = r.series(g, name, step)
		if name == lab.FigureIteration {
			if best := r.series(g, lab.FigureOptimum, step); len(best) > 0 {
				p.Series = append(p.Series, Series{Name: "optimum", Colour: -1, Dashed: true, Points: lowest(best)})
			}
		}
		p.inUnit(unitOf(g.results, name), name)
		plots = append(plots, p.orNil())
	}
	return plots
}

// valuesPlot has all figures of a benchmark side by side, in the colours of the locks.
func (r *Report) valuesPlot(g group, where string) []*Plot {
	p := &Plot{Title: fmt.Sprintf("%s on %s", g.b.Name, where)}
	unit := unitOf(g.results, g.b.Figure)
	for _, name := range names(g.results) {
		if unitOf(g.results, name) == unit {
			p.Bars = append(p.Bars, name)
		}
	}
	for i, name := range p.Bars {
		for _, line := range r.series(g, name, func(lab.Result) float64 { return float64(i) }) {
			k := slices.IndexFunc(p.Series, func(s Series) bool { return s.Name == line.Name })
			if k < 0 {
				p.Series = append(p.Series, line)
				continue
			}
			p.Series[k].Points = append(p.Series[k].Points, line.Points...)
		}
	}
	p.inUnit(unit, "")
	return []*Plot{p.orNil()}
}

// series are lines of a figure, one for each lock, over x.
func (r *Report) series(g group, figure string, x func(lab.Result) float64) (all []Series) {
	for _, result := range g.results {
		f, ok := result.Figure(figure)
		if !ok {
			continue
		}
		name := g.name(result)
		i := slices.IndexFunc(all, func(s Series) bool { return s.Name == name })
		if i < 0 {
			i, all = len(all), append(all, Series{Name: name, Colour: r.colour(result)})
		}
		all[i].Points = append(all[i].Points, Point{x(result), f.Median, f.Low, f.High})
	}
	for _, s := range all {
		slices.SortFunc(s.Points, func(a, b Point) int { return int(a.X*1000) - int(b.X*1000) })
	}
	return all
}

// colour is a contender's colour in the whole report.
func (r *Report) colour(of lab.Result) int {
	type contender struct {
		lock            string
		writers         float64
		inside, outside time.Duration
	}
	key := func(x lab.Result) contender { return contender{x.Lock, x.Writers, x.Inside, x.Outside} }
	return slices.Index(distinct(r.Results, key), key(of))
}

// lowest is the lowest of some lines at each place.
func lowest(lines []Series) (points []Point) {
	for _, line := range lines {
		for _, v := range line.Points {
			v.Low, v.High = 0, 0
			i := slices.IndexFunc(points, func(p Point) bool { return p.X == v.X })
			if i < 0 {
				points = append(points, v)
			} else if v.Y < points[i].Y {
				points[i] = v
			}
		}
	}
	return points
}

// inUnit shows the values of a plot in a unit that fits the largest one.
func (p *Plot) inUnit(unit, name string) {
	most := 0.0
	for _, s := range p.Series {
		for _, v := range s.Points {
			most = max(most, v.Y)
		}
	}
	by, prefix := scale(most, unit)
	if p.Y = name; prefix != "" {
		p.Y += ", " + prefix
	}
	if name == "" {
		p.Y = prefix
	}
	for _, s := range p.Series {
		for i := range s.Points {
			v := &s.Points[i]
			v.Y, v.Low, v.High = v.Y/by, v.Low/by, v.High/by
		}
	}
}

// orNil is the plot, or nil if it has nothing to show.
func (p *Plot) orNil() *Plot {
	if len(p.Series) == 0 {
		return nil
	}
	return p
}

func unitOf(results []lab.Result, figure string) string {
	for _, r := range results {
		if f, ok := r.Figure(figure); ok {
			return f.Unit
		}
	}
	return ""
}

func filter(results []lab.Result, keep func(lab.Result) bool) (kept []lab.Result) {
	for _, r := range results {
		if keep(r) {
			kept = append(kept, r)
		}
	}
	return kept
}

// distinct are the different values of a part of the results, in the order in which they come.
func distinct[T comparable](results []lab.Result, part func(lab.Result) T) (all []T) {
	for _, r := range results {
		if v := part(r); !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	return all
}
