package claims

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/lab"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

// drawn is a figure of two contenders at two places. At 16, b makes half of a.
func drawn(shows string) *Data {
	d := &Data{shows: shows}
	for _, p := range []struct {
		name string
		x, y float64
	}{{"a", 8, 1}, {"a", 16, 4}, {"b", 8, 2}, {"b", 16, 2}} {
		d.add(p.name, Point{X: p.x, Figures: map[string]float64{shows: p.y}})
	}
	return d
}

func TestJudges(t *testing.T) {
	for _, c := range []struct {
		what        string
		judge       Judge
		rate, delay bool // the claim holds if the figure is a throughput, or a latency
	}{
		{"about twice", about(2, "a", "b", 16), true, false},
		{"about 3 times is within the tolerance", about(3, "a", "b", 16), true, false},
		{"about 4 times is not", about(4, "a", "b", 16), false, false},
		{"once to twice", between(1, 2, "a", "b", 16), true, false},
		{"once to 1.9 times", between(1, 1.9, "a", "b", 16), false, false},
		{"0.4 to 1.9 times", between(.4, 1.9, "a", "b", 16), false, true},
		{"2 to 4", reaches(lab.FigureThroughput, 2, 4, 16, "a", "b"), true, false},
		{"2.1 to 4", reaches(lab.FigureThroughput, 2.1, 4, 16, "a", "b"), false, false},
		{"2 to 3.9", reaches(lab.FigureThroughput, 2, 3.9, 16, "a", "b"), false, false},
		{"about 2 more", onceMore("a", "b", 16, 2), true, true},
		{"about 5 more", onceMore("a", "b", 16, 5), false, false},
		{"faster from 16 on", faster(1, "a", 16, "b"), true, false},
		{"faster everywhere", faster(1, "a", 8, "b"), false, false},
		{"faster by more than the factor", faster(2, "a", 16, "b"), false, false},
		{"faster where nothing is", faster(1, "a", 32, "b"), false, false},
		{"faster than one that is missing", faster(1, "a", 8, "c", "b"), false, false},
		{"ordered", ordered(16, "b", "a"), true, false},
		{"ordered the other way", ordered(16, "a", "b"), false, true},
		{"within 100 %", within(1, 8, "a", "b"), true, true},
		{"within 99 %", within(.99, 8, "a", "b"), false, false},
		{"within, and one is missing", within(9, 8, "a", "c"), false, false},
		{"within where nothing is", within(9, 32, "a", "b"), false, false},
		{"rises", rises("a", 8, 16), true, true},
		{"stays", rises("b", 8, 16), false, false},
		{"falls", falls("a", 16, 8), true, true},
		{"does not fall", falls("b", 8, 16), false, false},
		{"both", all(rises("a", 8, 16), falls("b", 8, 16)), false, false},
		{"grows at most 4 times", grows(4, "a", 8, 16), true, true},
		{"grows at most 3.9 times", grows(3.9, "a", 8, 16), false, false},
		{"two take no longer than 4 of 2", sum("a", "b", 2, 16), true, true},
		{"two take no longer than 4 of 1.9", sum("a", "b", 1.9, 16), false, false},
		{"loses 4 times, or gains", loses("a", 8, 16, 3, 5), false, true},
		{"loses a quarter of that", loses("a", 8, 16, .2, .3), true, false},
		{"at least 2", atLeast(lab.FigureThroughput, 2, 16, "a", "b"), true, false},
		{"at least 2.1", atLeast(lab.FigureThroughput, 2.1, 16, "a", "b"), false, false},
		{"within at the other place", withinAt(.99, 16, "a", "b"), false, false},
		{"within at one place", withinAt(1, 8, "a", "b"), true, true},
		{"missing", about(1, "a", "c", 16), false, false},
	} {
		for shows, want := range map[string]bool{lab.FigureThroughput: c.rate, lab.FigureLatency: c.delay} {
			if came, holds := c.judge(drawn(shows)); holds != want || came == "" {
				t.Errorf("%s, %s: holds is %v, want %v: %q", c.what, shows, holds, want, came)
			}
		}
	}
	if came, holds := less(lab.FigureThroughput, "b", "a", 16)(drawn(lab.FigureThroughput)); !holds {
		t.Errorf("less: %s", came)
	}
}

// TestJudgesOfFigures judges figures that the study does not show. b takes twice as long as a in 1b, 2b and 3b,
// and four times in 1c, 2c and 3c.
func TestJudgesOfFigures(t *testing.T) {
	d := &Data{shows: lab.FigureIteration}
	for name, c := range map[string]float64{"a": 20, "b": 80} {
		f := map[string]float64{lab.FigureIteration: 1}
		for i := range 3 {
			f[from("b")[i]], f[from("c")[i]] = math.Sqrt(c/.2), c
		}
		d.add(name, Point{X: 4, Figures: f})
	}
	for _, c := range []struct {
		what  string
		judge Judge
		holds bool
	}{
		{"1c is longer than 1b", exceeds("1c", "1b", 4, "a", "b"), true},
		{"1b is longer than 1c", exceeds("1b", "1c", 4, "a", "b"), false},
		{"1b is as long as 2b", alike(0, "a", 4, "1b", "2b"), true},
		{"1b is as long as 1c", alike(.9, "a", 4, "1b", "1c"), false},
		{"a is twice as fast from b", aboutFrom(2, "b", "a", "b", 4), true},
		{"a is twice as fast from c", aboutFrom(2, "c", "a", "b", 4), false},
		{"a gains more from c", gainsMore("c", "b", "a", "b", 4), true},
		{"a gains more from b", gainsMore("b", "c", "a", "b", 4), false},
		{"1c is at most 80", atMostOf("1c", 80, 4, "a", "b"), true},
		{"1c is at most 79", atMostOf("1c", 79, 4, "a", "b"), false},
		{"one is missing", atMostOf("1c", 80, 4, "a", "c"), false},
		{"a is faster in 1c", on("1c", ordered(4, "b", "a")), true},
		{"a is faster in what the study shows", ordered(4, "b", "a"), false},
	} {
		if came, holds := c.judge(d); holds != c.holds || came == "" {
			t.Errorf("%s: holds is %v, want %v: %q", c.what, holds, c.holds, came)
		}
	}
	rates := drawn(lab.FigureThroughput) // a is half as fast as b at 8, and twice as fast at 16
	for _, c := range []struct {
		a, b  string
		holds bool
	}{{"b", "a", true}, {"a", "b", false}} {
		if came, holds := gainsLess(c.a, c.b, 8, 16)(rates); holds != c.holds {
			t.Errorf("%s gains less at 16: %s", c.a, came)
		}
	}
}

// TestStudies checks that each study can be played, and that each claim finds what it compares.
func TestStudies(t *testing.T) {
	var figures []string
	for _, s := range Studies() {
		if slices.Contains(figures, s.Figure) {
			t.Errorf("there are two studies of %s", s.Figure)
		}
		figures = append(figures, s.Figure)
		if _, err := sim.MachineByName(s.Machine); err != nil {
			t.Error(err)
		}
		if _, err := lab.BenchmarkByName(s.Benchmark); err != nil {
			t.Error(err)
		}
		d := Data{shows: s.Shows}
		if b, _ := lab.BenchmarkByName(s.Benchmark); b.Lockless != (len(s.Series) == 0) || b.Lockless != (len(s.Kinds) > 0) {
			t.Errorf("%s has series and kinds that its benchmark does not have", s.Figure)
		}
		for _, c := range s.Series {
			if found, err := lab.MatchLocks(c.Lock); err != nil || len(found) != 1 {
				t.Errorf("%s: the lock %q: %v", s.Figure, c.Lock, err)
			}
		}
		for _, c := range s.contenders() {
			for _, x := range placesOf(t, s) {
				p := Point{X: x, Figures: map[string]float64{s.Shows: 1, "main path": 1}}
				for _, other := range othersOf(s) {
					p.Figures[other] = 1
				}
				for _, kind := range s.Kinds {
					p.Figures[kind] = x
				}
				s.add(&d, c, p)
			}
		}
		for _, c := range s.Claims {
			if came, _ := c.Judge(&d); strings.Contains(came, "NaN") || strings.Contains(came, "nothing") || strings.Contains(came, "no figure") {
				t.Errorf("%s: %q compares what is not there: %s", s.Figure, c.Text, came)
			}
		}
	}
}

// othersOf are the figures that claims of a study may be about, besides the one that it shows.
func othersOf(s Study) []string {
	if s.Benchmark == "UPB" {
		return []string{"1a", "1b", "1c", "2a", "2b", "2c", "3a", "3b", "3c"}
	}
	return []string{lab.FigureFairness, lab.FigureContended, lab.FigureGlobal, lab.FigurePassed}
}

// placesOf are the places on the X axis.
func placesOf(t *testing.T, s Study) (xs []float64) {
	for _, text := range s.Trees {
		tree, err := topology.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		xs = append(xs, float64(tree.Ranks()))
	}
	if len(s.Steps) > 0 {
		return s.Steps
	}
	return xs
}

// small is a study that takes milliseconds, with a claim that holds and one that does not.
func small() Study {
	return Study{
		Figure: "a <figure>", Title: "small", Benchmark: "ECSB", Shows: lab.FigureThroughput, Machine: daint, Trees: []string{"node:2 core:2"}, Turns: 5,
		Series: []Contender{{Lock: "D-MCS", Writers: 1}, {"locally", "RMA-MCS", locks.Options{}, 1}},
		Claims: []Claim{
			{Text: "they differ", Judge: within(1000, 4, "D-MCS", "locally")},
			{Text: "nobody is that fast", Judge: faster(1e6, "D-MCS", 4, "locally")},
		},
	}
}

func TestReproduce(t *testing.T) {
	var said []string
	outcomes, err := Reproduce(t.Context(), []Study{small()}, func(what string) { said = append(said, what) })
	if err != nil {
		t.Fatal(err)
	}
	again, err := Reproduce(t.Context(), []Study{small()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	rate := outcomes[0].Data.at("locally", 4)
	if rate != again[0].Data.at("locally", 4) || !(rate > 0) || math.IsInf(rate, 1) {
		t.Errorf("the rate is %v, and then %v", rate, again[0].Data.at("locally", 4))
	}
	if len(said) != 2 {
		t.Errorf("progress was told %q, want one line for each point", said)
	}
	rows := Rows(outcomes)
	if len(rows) != 2 || !rows[0].Holds || rows[0].Why != "" || rows[1].Holds || rows[1].Why != "not found out" {
		t.Errorf("the rows are %+v", rows)
	}
	var table, page strings.Builder
	if err := errors.Join(Table(&table, outcomes), HTML(&page, outcomes)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1 of 2 claims hold, and 1 of these are not tested", "test: not tested", "DOES NOT HOLD  nobody is that fast", "holds          they differ", Missing()[0].Text} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("the table does not say %q:\n%s", want, table.String())
		}
	}
	for _, want := range []string{"a &lt;figure&gt;", "<svg", "DOES NOT HOLD", "not found out"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

func TestReproduceEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	second := small()
	second.Figure = "second"
	outcomes, err := Reproduce(ctx, []Study{small(), second}, func(what string) {
		if strings.HasPrefix(what, "second") {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || len(outcomes) != 1 {
		t.Errorf("%d outcomes, %v; want the first one, and that the context has ended", len(outcomes), err)
	}
}

func TestLinear(t *testing.T) {
	d := &Data{shows: "time"}
	for _, p := range [][2]float64{{10, 100}, {20, 110}, {40, 130}, {80, 230}} {
		d.add("put", Point{X: p[0], Figures: map[string]float64{"time": p[1]}})
	}
	if came, holds := linear("put", 10, 20, 40)(d); !holds {
		t.Error(came)
	}
	for _, xs := range [][]float64{{20, 40, 80}, {10, 40, 80}} {
		if came, holds := linear("put", xs...)(d); holds {
			t.Error(came)
		}
	}
}
