package main

import (
	"errors"
	"flag"
	"runtime"
	"slices"
	"strings"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/lab/taskbench"
)

// taskBench is what the flags of orwl-lab taskbench say.
type taskBench struct {
	graphs      []*taskbench.Schedule
	nodes       int
	v, vv       bool
	unvalidated bool
	systems     []string
	workers     int
	metg        bool
	threshold   float64
	repeats     int
}

// parseTaskBench reads the command line. As in Task Bench, -and begins another graph with the
// defaults, and the other flags are of the run, wherever they stand.
func parseTaskBench(f *flag.FlagSet, args []string) (*taskBench, error) {
	b := &taskBench{}
	systems := "orwl"
	var graphs []taskbench.Graph
	for i := 0; ; i++ {
		g, part := taskbench.NewGraph(i), args
		end := slices.Index(args, "-and")
		if end >= 0 {
			part, args = args[:end], args[end+1:]
		}
		flags := f
		if i > 0 {
			flags = flag.NewFlagSet(f.Name(), flag.ContinueOnError)
			flags.SetOutput(f.Output())
			flags.Usage = f.Usage
		}
		b.define(flags, &systems, i > 0)
		defineGraph(flags, &g)
		if err := command.Parse(flags, part); err != nil {
			return nil, err
		}
		graphs = append(graphs, g)
		if end < 0 {
			break
		}
	}
	b.systems = strings.Split(systems, ",")
	if b.workers == 0 {
		b.workers = runtime.GOMAXPROCS(0)
	}
	if err := b.check(); err != nil {
		return nil, err
	}
	return b, b.schedule(graphs)
}

// define defines the flags of the run. A later graph keeps what the ones before have said.
func (b *taskBench) define(f *flag.FlagSet, systems *string, later bool) {
	given := *b
	if !later {
		given = taskBench{threshold: 0.5, repeats: 3}
	}
	f.Bool("and", false, "the flags behind it are of another graph, which runs beside this one")
	f.IntVar(&b.nodes, "nodes", given.nodes, "run on `N` nodes, processes of this machine, and estimate the transfers; 0 is neither. Other systems than orwl only estimate")
	f.BoolVar(&b.v, "v", given.v, "show the dependences of each step, and the points of -metg")
	f.BoolVar(&b.vv, "vv", given.vv, "show also what reads each task")
	f.BoolVar(&b.unvalidated, "skip-graph-validation", given.unvalidated, "do not compare the schedule and the number of tasks with the pattern, which takes a while for large graphs")
	f.StringVar(systems, "system", *systems, "what runs the graphs: one or more of `NAME,NAME`: "+taskbench.SystemNames())
	f.IntVar(&b.workers, "worker", given.workers, "`N` threads, goroutines or processes of the peers, and processors that -metg counts; orwl has as many as GOMAXPROCS, and so have all if 0")
	f.BoolVar(&b.metg, "metg", given.metg, "search for the smallest task at which a system still reaches -threshold of its peak")
	f.Float64Var(&b.threshold, "threshold", given.threshold, "the `SHARE` of -metg, above 0 and below 1")
	f.IntVar(&b.repeats, "repeats", given.repeats, "of -metg, with each size a case, "+command.Usage("repeats", ""))
	command.Old(f, "repeat", "repeats")
}

// defineGraph defines the flags of a graph.
func defineGraph(f *flag.FlagSet, g *taskbench.Graph) {
	f.IntVar(&g.Steps, "steps", g.Steps, "`N` steps of a graph")
	f.IntVar(&g.Width, "width", g.Width, "`N` columns of a graph")
	f.Func("type", "the dependence pattern `NAME`, trivial by default: one of "+taskbench.PatternNames(), func(name string) error {
		p, ok := taskbench.PatternByName(name)
		if !ok {
			return errors.New("want one of " + taskbench.PatternNames())
		}
		g.Pattern = p
		return nil
	})
	f.IntVar(&g.Radix, "radix", g.Radix, "a task reads `N` columns, with nearest, spread and random")
	f.IntVar(&g.Period, "period", g.Period, "the pattern repeats after `N` steps, with spread and random; 0 is 3")
	f.Float64Var(&g.Fraction, "fraction", g.Fraction, "the `SHARE` of the columns that a task reads, with random")
	f.Func("kernel", command.Usage("kernel", ", empty by default: one of "+taskbench.KernelNames()), func(name string) error {
		k, ok := taskbench.KernelByName(name)
		if !ok {
			return errors.New("want one of " + taskbench.KernelNames())
		}
		g.Kernel.Type = k
		return nil
	})
	f.IntVar(&g.Kernel.Iterations, "iter", g.Kernel.Iterations, "`N` iterations of the kernel in each task")
	f.IntVar(&g.Output, "output", g.Output, "`BYTES` that a task writes")
	f.IntVar(&g.Scratch, "scratch", g.Scratch, "`BYTES` of a column for its kernel")
	f.IntVar(&g.Kernel.Samples, "sample", g.Kernel.Samples, "memory_bound divides the scratch by `N`")
	f.Float64Var(&g.Kernel.Imbalance, "imbalance", g.Kernel.Imbalance, "load_imbalance varies the iterations by this `SHARE`")
	f.IntVar(&g.Fields, "field", g.Fields, "the outputs of `N` steps of a column are kept; 0 is as many as the pattern has sets of dependences, and at least 2")
}

// check checks the flags of the run.
func (b *taskBench) check() error {
	for _, name := range b.systems {
		if !slices.Contains(strings.Split(taskbench.SystemNames(), ", "), name) {
			return command.Misusef("-system: no system %q: want some of %s", name, taskbench.SystemNames())
		}
	}
	if !(b.threshold > 0 && b.threshold < 1) {
		return command.Misusef("-threshold is %v, want more than 0 and less than 1", b.threshold)
	}
	return errors.Join(inRange("nodes", b.nodes, 0, 4096), inRange("worker", b.workers, 0, 4096), inRange("repeats", b.repeats, 1, 1000))
}

// schedule looks up the dependences of the graphs, and checks them.
func (b *taskBench) schedule(graphs []taskbench.Graph) error {
	for _, g := range graphs {
		if err := g.Choose(); err != nil {
			return command.Misusef("%w", err)
		}
		s, err := taskbench.NewSchedule(g)
		if err != nil {
			return command.Misusef("%w", err)
		}
		if !b.unvalidated {
			if err := s.Validate(); err != nil {
				return err
			}
		}
		b.graphs = append(b.graphs, s)
	}
	return nil
}

// detail is how much of the graphs to show.
func (b *taskBench) detail() int {
	switch {
	case b.vv:
		return 2
	case b.v:
		return 1
	}
	return 0
}
