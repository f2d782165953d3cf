package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/lab"
	"github.com/orwl/go-orwl/lab/arena"
	"github.com/orwl/go-orwl/lab/tune"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/topology"
)

// tuning is a run of orwl-lab tune.
type tuning struct {
	planFlags
	recorded string
	form     form
	goal     string
	cv       float64
	wait     time.Duration
	budget   int
	verify   int
	search   time.Duration
	baseline string
	progress *progress

	workload tune.Workload
	plays    int
}

// goals are the figures that orwl-lab tune can make small.
var goals = []string{lab.FigureIteration, lab.FigureLatency, lab.FigureWait + " p99"}

// runTune is orwl-lab tune.
func runTune(f *flag.FlagSet, args []string, out io.Writer) error {
	t := tuning{progress: newProgress(os.Stderr)}
	plan, asItIs, err := t.prepare(f, args)
	if err != nil {
		return err
	}
	ctx, stop := untilInterrupt()
	defer stop()
	if err := t.measure(plan); err != nil {
		return err
	}
	return t.run(ctx, plan, asItIs, out)
}

// prepare reads the flags, and makes of them what to play and what to compare with. All mistakes of the command line are its
// errors. It measures nothing.
func (t *tuning) prepare(f *flag.FlagSet, args []string) (plan lab.Plan, asItIs tune.Candidate, err error) {
	t.define(f)
	if err = errors.Join(command.Parse(f, args), t.form.validate(), t.validate()); err != nil {
		return plan, asItIs, err
	}
	if plan, err = t.plan(); err != nil {
		return plan, asItIs, err
	}
	if err = errors.Join(t.record(&plan), t.check(plan)); err != nil {
		return plan, asItIs, err
	}
	asItIs, err = t.asItIs(plan)
	return plan, asItIs, err
}

// define defines the flags of orwl-lab bench, for one window, and the flags of the search.
func (t *tuning) define(f *flag.FlagSet) {
	t.planFlags.define(f, arena.Mem)
	brief(f, map[string]string{"lock": "all", "bench": "ecsb", "ranks": "8", "machine": here})
	f.StringVar(&t.recorded, "recorded", "", "instead of -bench, -ranks and -fw: play what your program did with its lock, from `FILE`: CSV with the columns rank, write, hold_ns and outside_ns, and a row for each acquisition")
	f.StringVar(&t.goal, "goal", lab.FigureIteration, "the `FIGURE` to make small: iteration, latency, or wait p99")
	f.Float64Var(&t.cv, "cv", 0.25, "take no lock that is more unfair: the ranks' iterations have a coefficient of variation above `X` (0: any)")
	f.DurationVar(&t.wait, "p99", 0, "take no lock whose 99th percentile of waits is above `TIME` (0: any)")
	f.IntVar(&t.budget, "budget", 150, "let the simulator play `N` times")
	f.IntVar(&t.verify, "candidates", 3, "verify the best `N` candidates on the window")
	command.Old(f, "verify", "candidates") // which is a switch elsewhere
	f.DurationVar(&t.search, "search", 5*time.Millisecond, "how long one play of the search takes, in virtual time")
	f.StringVar(&t.baseline, "default", "", "compare with the lock `NAME` without options: RMA-RW, or the only one of -lock")
	t.form.define(f)
}

func (t *tuning) validate() error {
	if !slices.Contains(goals, t.goal) {
		return command.Misusef("-goal is %q, want iteration, latency or wait p99", t.goal)
	}
	if t.cv < 0 || t.wait < 0 || t.search < 10*time.Microsecond || t.search > time.Second {
		return command.Misusef("-cv is %g, -p99 %v and -search %v, want no negative bound, and 10us to 1s", t.cv, t.wait, t.search)
	}
	return errors.Join(inRange("budget", t.budget, 1, 1<<20), inRange("candidates", t.verify, 0, 100))
}

// record lets the plan play a recorded workload, if there is one.
func (t *tuning) record(plan *lab.Plan) error {
	if t.recorded == "" {
		return nil
	}
	file, err := os.Open(t.recorded)
	if err != nil {
		return command.Misusef("-recorded: %w", err)
	}
	defer file.Close()
	recording, err := lab.ReadRecording(file)
	if err != nil {
		return command.Misusef("-recorded: %s: %w", t.recorded, err)
	}
	plan.Recording, plan.Benchmarks, plan.Writers = &recording, []lab.Benchmark{lab.Recorded()}, []float64{1}
	if t.topology != "" {
		return nil // it says why if the ranks do not fit
	}
	ranks := len(recording.Ranks)
	if ranks < t.nodes {
		return command.Misusef("-nodes is %d, and the recording has %d ranks", t.nodes, ranks)
	}
	tree, err := topology.Parse(dealt(ranks, t.nodesFor(ranks)))
	plan.Machines = []*topology.Tree{tree}
	return err
}

// check complains about a plan that is no workload.
func (t *tuning) check(plan lab.Plan) error {
	if len(plan.Windows) != 1 {
		return command.Misusef("-window is %q, want one: where the best candidates are verified", t.windows)
	}
	for _, b := range plan.Benchmarks {
		if b.Section == nil {
			return command.Misusef("-bench: %s is no loop around one lock", b.Name)
		}
	}
	return nil
}

// asItIs is what the candidates are compared with.
func (t *tuning) asItIs(plan lab.Plan) (tune.Candidate, error) {
	name := t.baseline
	switch {
	case name != "":
	case len(plan.Locks) == 1:
		name = plan.Locks[0].Name
	default:
		name = "RMA-RW"
	}
	spec, ok := lab.LockByName(name)
	if !ok {
		return tune.Candidate{}, command.Misusef("-default: no lock %q: orwl locks lists them", name)
	}
	for _, tree := range plan.Machines {
		if err := spec.Validate(tree, locks.Options{}); err != nil {
			return tune.Candidate{}, command.Misusef("-default: %w", err)
		}
	}
	return tune.Candidate{Lock: spec}, nil
}

// run searches, verifies and prints, as far as it gets.
func (t *tuning) run(ctx context.Context, plan lab.Plan, asItIs tune.Candidate, out io.Writer) error {
	defer t.progress.clear()
	t.workload = tune.Workload{Plan: plan, Figure: t.goal, Bounds: tune.Bounds{CV: t.cv, Wait: float64(t.wait)}}
	begin := time.Now()
	found, err := tune.Search{
		Locks: plan.Locks, Options: plan.Options, Trees: plan.Machines, Budget: t.budget, Seed: plan.Seed, Play: t.inVirtualTime,
		Progress: func(plays int, best tune.Scored) {
			t.plays = plays
			t.progress.at(func() string {
				what := "all locks, a short time"
				if best.Lock.Name != "" {
					what = fmt.Sprintf("best so far %s, %s", best.Lock.Name, ns(best.Cost))
				}
				return fmt.Sprintf("play %d of %d, %v: %s", plays, t.budget, time.Since(begin).Round(time.Second), what)
			})
		},
	}.Run(ctx)
	var gains []tune.Gain
	if err == nil {
		gains, err = t.compare(ctx, plan, asItIs, found)
	}
	t.progress.clear()
	if errors.Is(err, context.Canceled) {
		err = errCutShort
	}
	return errors.Join(t.write(out, tunedRows(asItIs, found, gains, t.workload.Bounds)), err)
}

// inVirtualTime plays a candidate on the simulator.
func (t *tuning) inVirtualTime(ctx context.Context, c tune.Candidate, share float64) (tune.Score, error) {
	length := lab.Length{Time: time.Duration(share * float64(t.virtualTime())), Repeats: 1, Seed: t.length.Seed}
	return t.workload.Play(ctx, c, arena.Sim, length, t.machine)
}

// virtualTime is how long a play takes. Ranks that take turns on processors need longer: each has to
// have two time slices, or as many as in the longest play that a validation needs.
func (t *tuning) virtualTime() time.Duration {
	long := t.search
	for _, tree := range t.workload.Plan.Machines {
		if s := t.machine.Scheduler; s != nil && tree.Ranks() > s.Processors {
			turns := (tree.Ranks() + s.Processors - 1) / s.Processors
			long = max(long, min(2*time.Duration(float64(turns)*s.Slice), shortest[t.workload.Plan.Windows[0]]))
		}
	}
	return long
}

// compare verifies the best candidates on the window.
func (t *tuning) compare(ctx context.Context, plan lab.Plan, asItIs tune.Candidate, found []tune.Scored) ([]tune.Gain, error) {
	candidates := []tune.Candidate{asItIs}
	for _, c := range found {
		if len(candidates) <= t.verify && !same(c.Candidate, asItIs) {
			candidates = append(candidates, c.Candidate)
		}
	}
	return tune.Compare(ctx, candidates, plan.Repeats, func(ctx context.Context, c tune.Candidate, round int) (tune.Score, error) {
		t.progress.at(func() string {
			return fmt.Sprintf("verifying on %s, round %d of %d: %s", plan.Windows[0], round+1, plan.Repeats, c.Lock.Name)
		})
		length := plan.Length
		length.Repeats, length.Seed = 1, length.Seed+1+uint64(round) // the search has drawn other numbers
		if plan.Windows[0] == arena.Sim {
			length.Time, length.Turns = t.virtualTime(), 0
		}
		return t.workload.Play(ctx, c, plan.Windows[0], length, t.machine)
	})
}

func same(a, b tune.Candidate) bool {
	return a.Lock.Name == b.Lock.Name && a.Literal() == b.Literal()
}
