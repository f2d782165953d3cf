package claims

import (
	"context"
	"fmt"
	"time"

	"github.com/orwl/go-orwl/lab"
	"github.com/orwl/go-orwl/lab/arena"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma/model"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

// Study is a figure of a paper.
type Study struct {
	Figure    string // number of the paper, and of the figure or the section
	Title     string
	Benchmark string
	Shows     string // the figure of package lab on the Y axis
	Machine   string // of net/sim
	Trees     []string
	Steps     []float64 // of the benchmark's sweep; then they are the X axis, not the ranks
	Step      float64   // of the sweep, if there are no Steps
	Turns     int       // counted iterations of a rank
	// Time is how long each rank plays in virtual time, with its warm-up, instead of Turns. Then a fast
	// rank makes more iterations than a slow one.
	Time   time.Duration
	Series []Contender
	// Kinds are figures of one contender that are lines of their own, instead of the contenders: what
	// a benchmark without a lock measures.
	Kinds  []string
	Claims []Claim

	Inside  time.Duration      // more work in each section
	machine func(*model.Model) // changes the machine; see Change
}

// contenders are the series, or one without a lock.
func (s Study) contenders() []Contender {
	if len(s.Series) == 0 {
		return []Contender{{Writers: 1}}
	}
	return s.Series
}

// add adds a point to a contender, or to the kinds.
func (s Study) add(d *Data, c Contender, p Point) {
	if len(s.Kinds) == 0 {
		d.add(c.name(), p)
	}
	for _, kind := range s.Kinds {
		if v, ok := p.Figures[kind]; ok {
			d.add(kind, Point{X: p.X, Figures: map[string]float64{s.Shows: v}})
		}
	}
}

// Contender is a line of a figure.
type Contender struct {
	Name    string // the lock's own if empty
	Lock    string
	Options locks.Options
	Writers float64
}

func (c Contender) name() string {
	if c.Name == "" {
		return c.Lock
	}
	return c.Name
}

// Claim is what a paper says about a figure.
type Claim struct {
	Text  string
	Judge Judge
	// Why explains an outcome that differs.
	Why string
}

// Judge says what came out, and whether the claim holds.
type Judge func(d *Data) (came string, holds bool)

// Outcome is a study that was played.
type Outcome struct {
	Study
	Data     Data
	Verdicts []Verdict
	Took     time.Duration
}

// Verdict is what came of a claim.
type Verdict struct {
	Claim
	Came  string
	Holds bool
}

// Reproduce plays the studies. It tells progress what it plays, unless that is nil. When ctx
// ends, it returns what there is.
func Reproduce(ctx context.Context, studies []Study, progress func(what string)) (all []Outcome, err error) {
	for _, s := range studies {
		begin := time.Now()
		d, err := s.play(ctx, progress)
		if err != nil {
			return all, fmt.Errorf("%s: %w", s.Figure, err)
		}
		o := Outcome{Study: s, Data: d, Took: time.Since(begin)}
		for _, c := range s.Claims {
			came, holds := c.Judge(&o.Data)
			o.Verdicts = append(o.Verdicts, Verdict{c, came, holds})
		}
		all = append(all, o)
	}
	return all, nil
}

// play plays all points of a study.
func (s Study) play(ctx context.Context, progress func(string)) (Data, error) {
	d := Data{shows: s.Shows}
	steps := s.Steps
	if len(steps) == 0 {
		steps = []float64{s.Step}
	}
	for _, contender := range s.contenders() {
		for _, tree := range s.Trees {
			for _, step := range steps {
				if progress != nil {
					progress(fmt.Sprintf("%s: %s of %s on %s", s.Figure, s.Benchmark, contender.name(), tree))
				}
				p, err := s.point(ctx, contender, tree, step)
				if err != nil {
					return d, err
				}
				s.add(&d, contender, p)
			}
		}
	}
	return d, nil
}

// point plays one point in virtual time.
func (s Study) point(ctx context.Context, c Contender, text string, step float64) (p Point, err error) {
	machine, err := sim.MachineByName(s.Machine)
	if err != nil {
		return p, err
	}
	if s.machine != nil {
		s.machine(&machine)
	}
	tree, err := topology.Parse(text)
	if err != nil {
		return p, err
	}
	one := lab.Case{
		Benchmark: s.Benchmark, Lock: c.Lock, Options: c.Options, Window: arena.Sim, Machine: text,
		Writers: c.Writers, Step: step, Inside: s.Inside, Receive: time.Duration(machine.Receive), Length: lab.Length{Turns: s.Turns, Time: s.Time, Every: s.Time > 0, Repeats: 1, Seed: 1, Uncounted: true},
	}
	samples, err := arena.Play(ctx, one, arena.Options{Machine: machine})
	if err != nil {
		return p, err
	}
	result, err := lab.Summarize(one, samples)
	if err != nil {
		return p, err
	}
	p = Point{X: float64(tree.Ranks()), Figures: map[string]float64{}}
	if len(s.Steps) > 0 {
		p.X = step
	}
	for _, f := range result.Figures {
		p.Figures[f.Name] = f.Median
	}
	return p, nil
}
