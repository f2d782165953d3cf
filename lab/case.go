package lab

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/topology"
)

// Case is one point of a plan: a benchmark, a lock, where they run, and for how long. It
// travels as JSON to the processes that play it.
type Case struct {
	Benchmark string        `json:"bench"`
	Lock      string        `json:"lock,omitempty"`
	Options   locks.Options `json:"options,omitzero"`
	Window    string        `json:"window"`  // mem, shm, p2p or sim
	Machine   string        `json:"machine"` // the tree of ranks, as topology.Parse reads it
	Writers   float64       `json:"fw"`      // F_W, the share of acquisitions that write, 0 to 1, of a reader-writer lock
	Step      float64       `json:"step"`    // of the benchmark's sweep

	// Inside and Outside are work beyond the benchmark's own: while the lock is held, and after
	// the release.
	Inside  time.Duration `json:"inside_ns,omitempty"`
	Outside time.Duration `json:"outside_ns,omitempty"`

	// Receive is what the server of PINGPONG computes for each request that it receives.
	Receive time.Duration `json:"receive_ns,omitempty"`

	// Recording is what the benchmark RECORDED plays.
	Recording *Recording `json:"recording,omitempty"`

	Length
}

// Length is how long a case is played, and how often.
type Length struct {
	// Time is how long a repeat takes, with its warm-up.
	Time time.Duration `json:"time_ns,omitempty"`
	// Turns is how many iterations of a rank count, instead of a time. For runs that must not
	// depend on a clock.
	Turns int `json:"turns,omitempty"`
	// Repeats is how often the case is played. The median counts.
	Repeats int `json:"repeats"`
	// Seed is where random numbers begin.
	Seed uint64 `json:"seed"`
	// Every has every iteration timed, as Benchmark.Every. Where reading the clock costs nothing, as in
	// virtual time, ranks then notice at once that their time is over, however long an iteration takes.
	Every bool `json:"every,omitempty"`
	// Unchecked leaves out the witness of exclusion.
	Unchecked bool `json:"unchecked,omitempty"`
	// Uncounted leaves out the short run that counts remote operations.
	Uncounted bool `json:"uncounted,omitempty"`
}

// warm is the share of a repeat that does not count: a tenth, as in the papers.
const warm = 10

// Plan is many cases: each benchmark with each lock, window, machine, share of writers and step.
type Plan struct {
	Benchmarks []Benchmark
	Locks      []Lock
	Options    locks.Options
	Windows    []string
	Machines   []*topology.Tree
	Writers    []float64
	// Steps replace the benchmarks' own, unless they are empty.
	Steps           []float64
	Inside, Outside []time.Duration
	// Recording is what the benchmark RECORDED plays.
	Recording *Recording
	Length
}

// Cases are the cases of a plan. Those that cannot be played are left out, and skipped says
// why, once for each reason.
func (p Plan) Cases() (cases []Case, skipped []string) {
	seen := map[string]bool{}
	skip := func(why error) {
		if text := why.Error(); !seen[text] {
			seen[text] = true
			skipped = append(skipped, text)
		}
	}
	for _, b := range p.Benchmarks {
		for _, tree := range p.Machines {
			if err := b.on(tree); err != nil {
				skip(err)
				continue
			}
			for _, step := range p.steps(b, tree) {
				for _, window := range p.Windows {
					cases = p.contend(cases, Case{Benchmark: b.Name, Window: window, Machine: tree.String(), Step: step, Recording: p.Recording, Length: p.Length}, b, tree, skip)
				}
			}
		}
	}
	return cases, skipped
}

// contend adds a case for each lock and work.
func (p Plan) contend(cases []Case, c Case, b Benchmark, tree *topology.Tree, skip func(error)) []Case {
	if b.Lockless {
		return append(cases, c)
	}
	for _, s := range p.Locks {
		c.Lock, c.Options = s.Name, Heeded(s.Spec, p.Options)
		if err := s.Validate(tree, c.Options); err != nil {
			skip(err)
			continue
		}
		cases = slices.AppendSeq(cases, p.Vary(c, b, s.Kind))
	}
	return cases
}

// Vary are the cases that differ from c by the plan's shares of writers and its work, as far as the
// benchmark and the kind of lock have them.
func (p Plan) Vary(c Case, b Benchmark, kind locks.Kind) iter.Seq[Case] {
	writers, inside, outside := []float64{1}, []time.Duration{0}, []time.Duration{0}
	if b.Section != nil || b.Inside {
		inside = orElse(p.Inside, inside)
	}
	if b.Section != nil {
		outside = orElse(p.Outside, outside)
		if kind == locks.ReaderWriter {
			writers = p.Writers
		}
	}
	return func(yield func(Case) bool) {
		for _, c.Writers = range writers {
			for _, c.Inside = range inside {
				for _, c.Outside = range outside {
					if !yield(c) {
						return
					}
				}
			}
		}
	}
}

func orElse[T any](list, other []T) []T {
	if len(list) == 0 {
		return other
	}
	return list
}

func (p Plan) steps(b Benchmark, tree *topology.Tree) []float64 {
	switch {
	case b.Sweep == nil:
		return []float64{0}
	case len(p.Steps) > 0:
		return p.Steps
	}
	return b.Sweep.Steps(tree.Ranks())
}

// on says why a benchmark cannot be played by the ranks of a tree, or nil.
func (b Benchmark) on(t *topology.Tree) error {
	if b.fits == nil {
		return nil
	}
	if err := b.fits(t); err != nil {
		return fmt.Errorf("lab: %s on %s: %w", b.Name, t, err)
	}
	return nil
}

// Limit is how long a repeat may take before it counts as hung.
func (c Case) Limit() time.Duration {
	limit := 10*c.Time + time.Duration(c.Turns)*50*time.Millisecond + 20*time.Second
	if b, err := BenchmarkByName(c.Benchmark); err == nil {
		limit += b.longer
	}
	return limit
}

// validate names what is wrong with a case.
func (c Case) validate() error {
	switch {
	case c.Writers < 0 || c.Writers > 1:
		return fmt.Errorf("lab: Case.Writers is %g, want 0 to 1", c.Writers)
	case c.Turns < 0:
		return fmt.Errorf("lab: Case.Turns is %d, want at least 1, or 0 for a time", c.Turns)
	case c.Turns == 0 && c.Time <= 0:
		return fmt.Errorf("lab: Case.Time is %v, want more than 0, or Turns", c.Time)
	case c.Repeats < 1:
		return fmt.Errorf("lab: Case.Repeats is %d, want at least 1", c.Repeats)
	case c.Inside < 0 || c.Outside < 0:
		return fmt.Errorf("lab: Case.Inside is %v and Outside is %v, want no negative time", c.Inside, c.Outside)
	case (c.Recording != nil) != (plain(c.Benchmark) == plain(Recorded().Name)):
		return fmt.Errorf("lab: Case.Benchmark is %s: RECORDED needs a Case.Recording, and no other benchmark has one", c.Benchmark)
	}
	return nil
}
