package lab

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// Benchmark is a benchmark of a paper.
type Benchmark struct {
	Name  string
	Paper string // number and section
	About string

	// Figure is the name of the figure that the paper shows: what tables and plots begin with.
	Figure string
	// Sweep is the parameter that the paper varies, besides locks and ranks, or nil.
	Sweep *Sweep
	// Section is one iteration, for a benchmark that is a loop around one lock.
	Section func(ranks int, step float64) Section
	// Every iteration is timed, however long the clock takes.
	Every bool
	// Inside says that a script heeds Case.Inside.
	Inside bool
	// Lockless says that the benchmark uses no lock.
	Lockless bool

	// script is what a rank does, for a benchmark that is not a loop around one lock.
	script func(p *player) error
	// homes are the ranks at which the benchmark's locks live; one lock at rank 0 if nil.
	homes func(t *topology.Tree) []rma.Rank
	// messages is how many bytes of messages may be on their way to one rank, or nil for one
	// message of the largest size. Messages of two ranks never go to the same bytes.
	messages func(ranks int, step float64) int
	// longer is how much longer than its length a repeat may take.
	longer time.Duration
	// fits says what the benchmark wants of a machine, or nil.
	fits func(t *topology.Tree) error
}

// Section is one iteration of a loop around a lock.
type Section struct {
	Before Work // outside, before the rank comes for the lock
	Inside Work // while it holds the lock
	After  Work // outside, after the release
}

// Work is what a rank does at one place of an iteration, in the order of the fields.
type Work struct {
	Gets    int  // reads a word at the lock's home
	Counter bool // adds one to a counter at the lock's home, by a Get and a Put
	Lines   int  // reads and writes so many lines at the lock's home, drawn by chance
	// Increments adds one to so many words of the partner, each by a Get and a Put with
	// their flushes. The partner of a rank is the rank half of all ranks away.
	Increments Range
	Spin       Range // computes for so many nanoseconds
}

// Range is numbers from Least to Most. Each iteration draws one.
type Range struct{ Least, Most int64 }

// mean is the mean of the numbers.
func (r Range) mean() float64 { return float64(r.Least+r.Most) / 2 }

// spin is a range of times.
func spin(least, most time.Duration) Range { return Range{int64(least), int64(most)} }

// Sweep is a parameter that a benchmark varies.
type Sweep struct {
	Name, Unit string
	Steps      func(ranks int) []float64 // the paper's
	Log        bool                      // the paper's axis is logarithmic
}

// these are steps that are the same for any number of ranks.
func these(steps ...float64) func(int) []float64 {
	return func(int) []float64 { return steps }
}

// Benchmarks are all benchmarks, in the order of the papers.
func Benchmarks() []Benchmark {
	return slices.Concat(ofHPDC16(), ofTOPC19(), ofCACM18(), ofUffmann22())
}

// ofHPDC16 are the benchmarks of Schmid, Besta and Hoefler, §5.
func ofHPDC16() []Benchmark {
	const paper = "HPDC16 §5"
	random := Work{Spin: spin(time.Microsecond, 4*time.Microsecond)}
	return []Benchmark{
		{Name: "LB", Paper: paper, Figure: FigureLatency, Every: true, Section: always(Section{}),
			About: "latency of an acquire and a release, empty section"},
		{Name: "ECSB", Paper: paper + ", Uffmann22 §4.2.2", Figure: FigureThroughput, Section: always(Section{}),
			About: "throughput of an empty section"},
		{Name: "SOB", Paper: paper, Figure: FigureThroughput, Section: always(Section{Inside: Work{Gets: 1}}),
			About: "one memory access in the section"},
		{Name: "WCSB", Paper: paper, Figure: FigureThroughput, Section: always(Section{Inside: Work{Counter: true, Spin: random.Spin}}),
			About: "a shared counter and 1 to 4 us of work in the section"},
		{Name: "WARB", Paper: paper, Figure: FigureThroughput, Section: always(Section{After: random}),
			About: "1 to 4 us of work after each release"},
	}
}

// always is a section that depends on nothing.
func always(s Section) func(int, float64) Section {
	return func(int, float64) Section { return s }
}

// ofUffmann22 are the benchmarks of Uffmann, chapters 4 and 5. Its ECSB is the same as HPDC16's.
func ofUffmann22() []Benchmark {
	return []Benchmark{
		{Name: "UPB", Paper: "Uffmann22 §4.2.1", Figure: "1c", script: playUPB, homes: homesUPB, fits: fitsUPB, longer: 5 * time.Minute,
			About: "1,000 free locks, in nine scenarios: who had them last, and where the rank lives"},
		{Name: "CCWB", Paper: "Uffmann22 §4.2.3", Figure: FigureIteration, Section: sectionCCWB,
			Sweep: &Sweep{Name: "critical work", Unit: "operations", Steps: these(0, 1, 2, 3, 4, 5)},
			About: "more and more of the work is done in the section"},
		{Name: "WBAB", Paper: "Uffmann22 §4.2.4", Figure: FigureIteration, Section: sectionWBAB,
			Sweep: &Sweep{Name: "mean wait per rank", Unit: "us", Steps: these(0, .25, .5, 1, 2, 4, 8, 16, 32, 64)},
			About: "a wait before each acquire, empty section"},
	}
}

// equilibrium is the critical work at which CCWB has no parallel part left: e in §4.2.3.
const equilibrium = 3

// sectionCCWB does k operations inside and ã-k outside. ã is drawn from a to 2a, and a is
// chosen such that k = 3 is one rank's share of it.
func sectionCCWB(ranks int, k float64) Section {
	a := int64(float64(ranks) * equilibrium / 1.5)
	critical := int64(k)
	least := max(0, a-critical)
	return Section{
		Inside: Work{Increments: Range{critical, critical}},
		After:  Work{Increments: Range{least, max(least, 2*a-critical)}},
	}
}

// sectionWBAB waits for w to 2w outside. The step is the mean of that for each rank, in
// microseconds, which is also the shortest possible iteration.
func sectionWBAB(ranks int, step float64) Section {
	w := int64(step * float64(time.Microsecond) * float64(ranks) / 1.5)
	return Section{Before: Work{Spin: Range{w, 2 * w}}}
}

// BenchmarkByName is the benchmark of a name, in any case, with or without hyphens.
func BenchmarkByName(name string) (Benchmark, error) {
	for _, b := range append(Benchmarks(), Recorded()) {
		if plain(b.Name) == plain(name) {
			return b, nil
		}
	}
	return Benchmark{}, fmt.Errorf("lab: no benchmark %q: want one of %s", name, strings.Join(benchmarkNames(), ", "))
}

// MatchBenchmarks are the benchmarks that a list of names and patterns selects, in the order of
// the list.
func MatchBenchmarks(list string) ([]Benchmark, error) {
	names, err := match("benchmark", list, strings.Join(benchmarkNames(), ", "), benchmarkNames(), func(name string) (string, bool) {
		b, err := BenchmarkByName(name)
		return b.Name, err == nil
	})
	if err != nil {
		return nil, err
	}
	var found []Benchmark
	for _, name := range names {
		b, err := BenchmarkByName(name)
		if err != nil {
			return nil, err
		}
		found = append(found, b)
	}
	return found, nil
}

func benchmarkNames() (names []string) {
	for _, b := range Benchmarks() {
		names = append(names, b.Name)
	}
	return names
}
