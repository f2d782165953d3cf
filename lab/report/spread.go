package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/orwl/go-orwl/lab"
)

// spreadPlots are the diagrams of single acquisitions and of single ranks: how long acquires took, and what share of all
// iterations each rank had. A mean hides both.
func (r *Report) spreadPlots(g group, where string) []*Plot {
	waits := &Plot{Title: fmt.Sprintf("%s on %s: waits", g.b.Name, where), X: "wait, ns", Y: "share of acquires, %", LogX: true}
	shares := &Plot{Title: fmt.Sprintf("%s on %s: each rank's share", g.b.Name, where), X: "rank", Y: "iterations of a rank by the mean"}
	for _, result := range g.results {
		if s := waitsOf(result); len(s) > 0 {
			waits.Series = append(waits.Series, Series{Name: g.stepped(result), Colour: r.colour(result), Points: s})
		}
		if s := sharesOf(result); len(s) > 0 {
			shares.Series = append(shares.Series, Series{Name: g.stepped(result), Colour: r.colour(result), Points: s})
		}
	}
	return []*Plot{waits.orNil(), shares.orNil()}
}

// stepped is the name of a contender, with the step of the sweep.
func (g group) stepped(r lab.Result) string {
	if g.b.Sweep == nil || !differs(g.results, func(r lab.Result) float64 { return r.Step }) {
		return g.name(r)
	}
	return fmt.Sprintf("%s, %s %s", g.name(r), digits(r.Step), g.b.Sweep.Unit)
}

// waitsOf has the share of acquires between each power of two and the next one, in percent.
func waitsOf(r lab.Result) (points []Point) {
	if r.Waits == nil || r.Waits.N == 0 {
		return nil
	}
	by := make(map[int]uint64)
	for at, n := range r.Waits.Durations() {
		by[int(math.Floor(math.Log2(max(1, float64(at)))))] += n
	}
	for power, n := range by {
		points = append(points, Point{X: math.Exp2(float64(power)), Y: 100 * float64(n) / float64(r.Waits.N)})
	}
	slices.SortFunc(points, func(a, b Point) int { return int(math.Log2(a.X) - math.Log2(b.X)) })
	return points
}

// sharesOf are the iterations of each rank, by the mean. All are 1 where a lock is fair.
func sharesOf(r lab.Result) (points []Point) {
	var all uint64
	for _, n := range r.Turns {
		all += n
	}
	for p, n := range r.Turns {
		points = append(points, Point{X: float64(p), Y: float64(n) * float64(len(r.Turns)) / float64(max(1, all))})
	}
	return points
}

// legend says what the columns of a table are whose titles do not say so.
func (g group) legend() (lines []string) {
	for _, c := range g.columns() {
		if text, ok := meanings[c.title]; ok {
			lines = append(lines, c.title+": "+text)
		}
	}
	return lines
}

// meanings are what columns show.
var meanings = map[string]string{
	"95 % interval":    "of the median, from order statistics; with fewer than six repeats it says how sure it is",
	lab.FigureLatency:  "of an acquire and its release, mean",
	lab.FigureOverhead: "iteration less the shortest possible one",
	"wait p50":         "half of the acquires take no longer",
	"p99":              "99 % of the acquires take no longer",
	"max":              "the longest acquire",
	"cv":               "standard deviation of the ranks' iterations by their mean; 0 is fair",
	"contended":        "share of acquisitions that found a predecessor",
	"above":            "the same beyond the rank's own element",
	"ops":              "operations on other ranks' memory for an acquisition and its release",
}
