package lab

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/topology"
)

// Result is what came of a case.
type Result struct {
	Case
	Ranks   int      `json:"ranks"`
	Figures []Figure `json:"figures"`
	// Waits are all timed acquires, and Turns the iterations of each rank, of all repeats.
	Waits *Histogram `json:"waits,omitempty"`
	Turns []uint64   `json:"iterations,omitempty"`
	// Note says what is special about the result, for instance that it was cut short.
	Note string `json:"note,omitempty"`
}

// Figure is one thing that was measured.
type Figure struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
	Estimate
}

// The names of figures.
const (
	FigureThroughput = "throughput" // sections a second, of all ranks
	FigureIteration  = "iteration"  // nanoseconds from one section to the next, of all ranks
	FigureOptimum    = "optimum"    // the shortest possible iteration
	FigureOverhead   = "overhead"   // iteration less optimum
	FigureLatency    = "latency"    // of an acquire and its release, mean
	FigureWait       = "wait"       // wait p50, wait p99, ...: of one acquire
	FigureFairness   = "cv"         // coefficient of variation of the ranks' iterations
	FigureContended  = "contended"  // share of acquisitions that found a predecessor
	FigureGlobal     = "contended above"
	FigurePassed     = "passed on" // share of acquisitions that ended in a hand-over inside the element
	FigureLocal      = "local hand-overs"
	FigureRemote     = "remote operations"
)

// Figure is the figure of a name.
func (r *Result) Figure(name string) (Figure, bool) {
	i := slices.IndexFunc(r.Figures, func(f Figure) bool { return f.Name == name })
	if i < 0 {
		return Figure{}, false
	}
	return r.Figures[i], true
}

// percentiles are the percentiles of single waits that a result has.
var percentiles = [...]struct {
	name string
	p    float64
}{{"p50", .5}, {"p90", .9}, {"p99", .99}, {"p99.9", .999}}

// Summarize makes a result of the samples of all ranks in all repeats, in any order.
func Summarize(c Case, samples []Sample) (Result, error) {
	b, tree, err := c.parse()
	if err != nil {
		return Result{}, err
	}
	byRepeat := map[int][]Sample{}
	for _, s := range samples {
		byRepeat[s.Repeat] = append(byRepeat[s.Repeat], s)
	}
	s := summary{c: c, b: b, tree: tree, values: map[string][]float64{}}
	for _, repeat := range slices.Sorted(maps.Keys(byRepeat)) {
		s.repeat(byRepeat[repeat])
	}
	r := Result{Case: c, Ranks: tree.Ranks()}
	if b.Section != nil {
		r.Waits, r.Turns = new(Histogram), make([]uint64, tree.Ranks())
		for _, s := range samples {
			r.Waits.merge(s.Waits)
			if int(s.Rank) < len(r.Turns) {
				r.Turns[s.Rank] += s.Turns
			}
		}
	}
	for _, f := range s.figures {
		f.Estimate = EstimateOf(s.values[f.Name])
		r.Figures = append(r.Figures, f)
	}
	return r, nil
}

// summary collects the figures of each repeat.
type summary struct {
	c       Case
	b       Benchmark
	tree    *topology.Tree
	figures []Figure
	values  map[string][]float64
}

func (s *summary) add(name, unit string, value float64) {
	if s.values[name] == nil {
		s.figures = append(s.figures, Figure{Name: name, Unit: unit})
	}
	s.values[name] = append(s.values[name], value)
}

// repeat adds the figures of one repeat.
func (s *summary) repeat(ranks []Sample) {
	values := map[string]Share{}
	for _, r := range ranks {
		for name, v := range r.Values {
			values[name] = Share{values[name].Of + v.Of, values[name].By + v.By}
		}
	}
	if s.b.Section != nil {
		s.section(ranks)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if v := values[name]; v.By > 0 {
			s.add(name, unitOf(name), v.Of/v.By)
		}
	}
}

// section adds the figures of a loop around a lock.
func (s *summary) section(ranks []Sample) {
	var waits, latency, step Histogram
	var counts locks.Counts
	var turns []float64
	from := make([]uint64, s.tree.Levels()+2)
	remote, counted := make([]uint64, s.tree.Levels()+2), uint64(0)
	for _, r := range ranks {
		waits.merge(r.Waits)
		latency.merge(r.Latency)
		step.merge(r.Step)
		counts = counts.Add(r.Counts)
		turns = append(turns, float64(r.Turns))
		addTo(from, r.From)
		addTo(remote, r.Remote)
		counted += r.Counted
	}
	rate := s.rate(ranks)
	if rate == 0 {
		return // cut short
	}
	iteration, optimum := 1e9/rate, s.optimum(&step)
	s.add(FigureThroughput, "1/s", rate)
	s.add(FigureIteration, "ns", iteration)
	if latency.N > 0 {
		s.add(FigureLatency, "ns", latency.Mean())
	}
	s.add(FigureOptimum, "ns", optimum)
	s.add(FigureOverhead, "ns", iteration-optimum)
	s.waits(&waits)
	s.add(FigureFairness, "", variation(turns))
	s.shares(counts, from)
	s.operations(remote, counted)
}

// rate is the iterations a second of all ranks. Ranks that run for the same time add up. Of ranks that make the
// same number of iterations some end early, so there it is all iterations by the time from the first rank's
// beginning to the last one's end, as in the papers.
func (s *summary) rate(ranks []Sample) (rate float64) {
	var turns uint64
	first, last := ranks[0].Began, time.Duration(0)
	for _, r := range ranks {
		if r.Time > 0 {
			rate += float64(r.Turns) / r.Time.Seconds()
		}
		turns += r.Turns
		first, last = min(first, r.Began), max(last, r.Began+r.Time)
	}
	if s.c.Turns > 0 && rate > 0 {
		return float64(turns) / (last - first).Seconds()
	}
	return rate
}

// waits adds what single acquires took. A peer in another language does not time them.
func (s *summary) waits(of *Histogram) {
	if of.N == 0 {
		return
	}
	s.add(FigureWait+" min", "ns", float64(of.Least))
	for _, p := range percentiles {
		s.add(FigureWait+" "+p.name, "ns", float64(of.Percentile(p.p)))
	}
	s.add(FigureWait+" max", "ns", float64(of.Most))
}

func addTo(sum, n []uint64) {
	for i := range n {
		sum[i] += n[i]
	}
}

// shares adds the contention and the locality.
func (s *summary) shares(c locks.Counts, from []uint64) {
	if c.Acquired > 0 {
		s.add(FigureContended, "", c.Contention())
		if c.Upper > 0 {
			s.add(FigureGlobal, "", c.UpperContention())
			s.add(FigurePassed, "", c.Locality())
		}
	}
	var all uint64
	for _, n := range from[1:] {
		all += n
	}
	if all == 0 {
		return
	}
	inside := all
	for level := 2; level <= s.tree.Levels(); level++ {
		inside -= from[level-1]
		s.add(fmt.Sprintf("%s in %s", FigureLocal, s.tree.LevelName(level)), "", float64(inside)/float64(all))
	}
	s.add("hand-overs to itself", "", float64(from[len(from)-1])/float64(all))
}

// operations adds the operations of an acquisition and its release, by how far they go.
func (s *summary) operations(n []uint64, counted uint64) {
	if counted == 0 {
		return
	}
	beyond := uint64(0)
	for level := 1; level <= s.tree.Levels(); level++ {
		beyond += n[level]
		name := FigureRemote
		if level < s.tree.Levels() {
			name += " beyond " + s.tree.LevelName(level+1)
		}
		s.add(name, "", float64(beyond)/float64(counted))
	}
}

// optimum is the shortest possible iteration in nanoseconds, if the lock and the network cost
// nothing: all ranks work at once, except in the section (Uffmann22 §4.2.3, §4.2.4). An increment takes
// the median of what it took in this run.
func (s *summary) optimum(step *Histogram) float64 {
	section := s.b.Section(s.tree.Ranks(), s.c.Step)
	ns := func(w Work, more float64) float64 {
		return w.Spin.mean() + w.Increments.mean()*float64(step.Percentile(.5)) + more
	}
	inside := ns(section.Inside, float64(s.c.Inside))
	all := inside + ns(section.Before, 0) + ns(section.After, float64(s.c.Outside))
	if s.c.Writers < 1 {
		inside *= s.c.Writers // readers are inside together
	}
	return max(inside, all/float64(s.tree.Ranks()))
}

// unitOf is the unit of a value that only one benchmark measures.
func unitOf(name string) string {
	if unit, ok := units[name]; ok {
		return unit
	}
	return "ns"
}

// units are the units of values that are not nanoseconds.
var units = map[string]string{valueMain: "", valueProgress: "", valueRate: "1/s"}
