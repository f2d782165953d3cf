package main

import (
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/lab"
	"github.com/orwl/go-orwl/lab/arena"
	"github.com/orwl/go-orwl/net/rma/model"
	"github.com/orwl/go-orwl/net/topology"
)

// planFlags are the flags that say what to play: benchmarks, locks, ranks, work, for how long, and
// on which machine if time is virtual.
type planFlags struct {
	virtual               bool // on no other window than the simulator: known after plan
	machineName           string
	machine               model.Model
	locks, bench, windows string
	ranks, topology       string
	nodes                 int
	writers, steps        string
	inside, outside       string
	length                lab.Length
	options               lockOptions
}

// define defines the flags. A command that plays in virtual time only gives no windows.
func (p *planFlags) define(f *flag.FlagSet, windows string) {
	f.StringVar(&p.locks, "lock", "mcs,d-mcs,rma-mcs,c-mcs-mcs", command.Usage("lock", " in any case, or several with commas between, patterns such as c-mcs-*, or all; orwl locks lists them"))
	f.StringVar(&p.bench, "bench", "lb,ecsb", "the benchmarks: `NAME,...`, patterns, or all: "+benchmarks())
	if p.windows = arena.Sim; windows != "" {
		f.StringVar(&p.windows, "window", windows, command.Usage("window", ", sim (virtual time), or several with commas between"))
	}
	f.StringVar(&p.ranks, "ranks", "2,4", "play with "+command.Usage("ranks", ", or with each of several numbers, such as 2,4"))
	f.IntVar(&p.nodes, "nodes", 0, "deal the ranks to `N` nodes; locks with levels tell them apart (0: one; in virtual time only, as many as the machine takes for them)")
	f.StringVar(&p.machineName, "machine", "piz-daint", "the `MACHINE` of virtual time: "+machineList()+", a file that orwl-lab model -json wrote, or here: this machine is measured first")
	f.StringVar(&p.topology, "topology", "", "the machine, instead of -ranks and -nodes: `LEVEL:N ...` from coarse to fine, the last one counting ranks")
	f.StringVar(&p.writers, "fw", "0.2", command.Usage("fw", ", with locks that tell readers from writers"))
	f.StringVar(&p.steps, "vary", "", command.Usage("vary", "")+" (CCWB's critical work, WBAB's wait, bytes): `N,...` instead of the paper's")
	f.StringVar(&p.inside, "inside", "0s", "more work while a rank holds the lock: `TIME,...`")
	f.StringVar(&p.outside, "outside", "0s", "more work after each release: `TIME,...`")
	f.DurationVar(&p.length.Time, "time", 200*time.Millisecond, command.Usage("time", "; the first tenth warms up"))
	f.IntVar(&p.length.Turns, "turns", 0, "count `N` iterations of each rank, instead of a time")
	f.IntVar(&p.length.Repeats, "repeats", 6, "play each case `N` times; the median counts, and 6 are enough for a 95 % interval")
	f.Uint64Var(&p.length.Seed, "seed", 1, command.Usage("seed", " of random numbers"))
	f.BoolVar(&p.length.Unchecked, "unchecked", false, "do not check exclusion, which costs a line of memory in each section")
	f.BoolVar(&p.length.Uncounted, "uncounted", false, "do not count remote operations, in a short run of its own")
	p.options.define(f)
	command.Old(f, "steps", "vary")
}

// benchmarks are the names of all benchmarks.
func benchmarks() string {
	var names []string
	for _, b := range lab.Benchmarks() {
		names = append(names, strings.ToLower(b.Name))
	}
	return strings.Join(names, ", ")
}

// plan is what the flags say, checked. It does not measure this machine, which takes seconds: measure does.
func (p *planFlags) plan() (plan lab.Plan, err error) {
	plan.Length = p.length
	for _, err := range []error{
		inRange("repeats", p.length.Repeats, 1, 1<<20), inRange("turns", p.length.Turns, 0, 1<<30), inRange("nodes", p.nodes, 0, 1<<16),
	} {
		if err != nil {
			return plan, err
		}
	}
	if p.length.Time <= 0 || p.length.Time > time.Hour {
		return plan, command.Misusef("-time is %v, want more than 0 and at most an hour", p.length.Time)
	}
	if plan.Benchmarks, err = lab.MatchBenchmarks(p.bench); err != nil {
		return plan, command.Misusef("-bench: %w", err)
	}
	if plan.Locks, err = lab.MatchLocks(p.locks); err != nil {
		return plan, command.Misusef("-lock: %w", err)
	}
	if plan.Options, err = p.options.options(); err != nil {
		return plan, err
	}
	if plan.Windows, err = windowList(p.windows); err != nil {
		return plan, err
	}
	p.virtual = !slices.ContainsFunc(plan.Windows, func(w string) bool { return w != arena.Sim })
	if p.machineName != here {
		if p.machine, err = machineOf(p.machineName); err != nil {
			return plan, err
		}
	}
	if plan.Machines, err = p.machines(); err != nil {
		return plan, err
	}
	if plan.Writers, err = list("fw", p.writers, func(s string) (float64, error) {
		v, err := strconv.ParseFloat(s, 64)
		if err == nil && (v < 0 || v > 100) {
			err = fmt.Errorf("want 0 to 100 percent")
		}
		return v / 100, err
	}); err != nil {
		return plan, err
	}
	if plan.Steps, err = list("vary", p.steps, func(s string) (float64, error) {
		v, err := strconv.ParseFloat(s, 64)
		if err == nil && v < 0 {
			err = fmt.Errorf("want 0 or more")
		}
		return v, err
	}); err != nil {
		return plan, err
	}
	if plan.Inside, err = list("inside", p.inside, duration); err != nil {
		return plan, err
	}
	plan.Outside, err = list("outside", p.outside, duration)
	return plan, err
}

// measure measures this machine, if the flags ask for that: with the first of the windows that is a real one, or with
// goroutines.
func (p *planFlags) measure(plan lab.Plan) (err error) {
	if p.machineName != here {
		return nil
	}
	window := arena.Mem
	for _, w := range slices.Backward(plan.Windows) {
		if w != arena.Sim {
			window = w
		}
	}
	p.machine, err = measureHere(window, 0)
	return err
}

func duration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err == nil && d < 0 {
		err = fmt.Errorf("want 0s or more")
	}
	return d, err
}

// list reads the fields of a flag.
func list[T any](name, text string, read func(string) (T, error)) (values []T, err error) {
	for _, field := range strings.Split(text, ",") {
		if field = strings.TrimSpace(field); field == "" {
			continue
		}
		v, err := read(field)
		if err != nil {
			return nil, command.Misusef("-%s: %q: %w", name, field, err)
		}
		values = append(values, v)
	}
	return values, nil
}

// windowList are the windows that a flag names.
func windowList(text string) ([]string, error) {
	known := arena.Windows()
	if text == "all" {
		return known, nil
	}
	windows, err := list("window", text, func(s string) (string, error) {
		if !slices.Contains(known, strings.ToLower(s)) {
			return "", fmt.Errorf("want %s, or all", strings.Join(known, ", "))
		}
		return strings.ToLower(s), nil
	})
	return windows, err
}

// machines are the trees of ranks.
func (p *planFlags) machines() (trees []*topology.Tree, err error) {
	if p.topology != "" {
		t, err := topology.Parse(p.topology)
		if err != nil {
			return nil, command.Misusef("-topology: %w", err)
		}
		return []*topology.Tree{t}, nil
	}
	return list("ranks", p.ranks, func(s string) (*topology.Tree, error) {
		n, err := strconv.Atoi(s)
		if err != nil {
			return nil, err
		}
		if n < 1 || n > 1<<16 {
			return nil, fmt.Errorf("want 1 to %d", 1<<16)
		}
		if n < p.nodes {
			return nil, fmt.Errorf("want at least one rank for each of the %d nodes (-nodes)", p.nodes)
		}
		return topology.Parse(dealt(n, p.nodesFor(n)))
	})
}

// nodesFor is how many nodes n ranks are dealt to.
func (p *planFlags) nodesFor(n int) int {
	switch {
	case p.nodes > 0:
		return p.nodes
	case p.virtual && p.machine.Node > 0:
		return (n + p.machine.Node - 1) / p.machine.Node
	}
	return 1
}

// dealt is the tree of n ranks on some nodes.
func dealt(n, nodes int) string {
	if n%nodes == 0 {
		return fmt.Sprintf("node:%d core:%d", nodes, n/nodes)
	}
	more := n % nodes
	return fmt.Sprintf("node:%d core:%d*%d+%d*%d", nodes, n/nodes+1, more, n/nodes, nodes-more)
}
