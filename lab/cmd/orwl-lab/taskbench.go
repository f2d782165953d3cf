package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/internal/native"
	"github.com/orwl/go-orwl/lab/taskbench"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/launch"
	_ "github.com/orwl/go-orwl/orwl/nodes" // for several nodes
)

// runTaskBench is orwl-lab taskbench.
func runTaskBench(f *flag.FlagSet, args []string, out io.Writer) (err error) {
	b, err := parseTaskBench(f, args)
	if err != nil {
		return err
	}
	ctx, stop := untilInterrupt()
	defer stop()
	defer func() {
		if err != nil && ctx.Err() != nil {
			err = command.ErrInterrupted
		}
	}()
	place, err := launch.FromEnvironment()
	if err != nil {
		return err
	}
	switch {
	case place.Nodes == 1 && b.nodes > 1 && b.onNodes():
		return b.spawn(ctx, args, out)
	case place.Nodes > 1 && !b.onNodes():
		return command.Misusef("this is %v: only -system orwl runs on nodes, without -metg", place)
	case place.Nodes > 1 && b.nodes != 0 && b.nodes != place.Nodes:
		return command.Misusef("-nodes is %d, want %d: this is %v", b.nodes, place.Nodes, place)
	case place.Nodes > 1:
		b.nodes = place.Nodes
	}
	if b.metg {
		return b.sweep(ctx, out)
	}
	if place.Node == 0 {
		taskbench.Describe(out, b.graphs, b.detail())
	}
	return b.run(ctx, out)
}

// onNodes reports whether the nodes are processes that run the graphs together. If not, they
// are only what the transfers are estimated for, as in Task Bench.
func (b *taskBench) onNodes() bool {
	return !b.metg && len(b.systems) == 1 && b.systems[0] == "orwl"
}

// spawn runs this command on each node.
func (b *taskBench) spawn(ctx context.Context, args []string, out io.Writer) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	return launch.Spawn(ctx, launch.Run{
		Nodes: b.nodes, Program: program, Args: append([]string{"taskbench"}, args...),
		Stdout: out, Stderr: os.Stderr, Plain: true,
	})
}

// run runs the graphs on each system. All must compute the same.
func (b *taskBench) run(ctx context.Context, out io.Writer) error {
	nodes, err := orwl.Join(ctx, orwl.JoinOptions{})
	if err != nil {
		return err
	}
	defer nodes.Close(context.WithoutCancel(ctx))
	var checksum uint64
	for i, name := range b.systems {
		r, err := b.runOn(ctx, name, nodes)
		if err != nil {
			return err
		}
		if want := b.tasks(); !b.unvalidated && r.Tasks != want {
			return fmt.Errorf("%s has run %d tasks, and the graphs have %d", name, r.Tasks, want)
		}
		if i > 0 && r.Checksum != checksum {
			return fmt.Errorf("%s has the checksum %016x, and %s %016x", name, r.Checksum, b.systems[0], checksum)
		}
		checksum = r.Checksum
		if nodes.Number() != 0 {
			continue
		}
		if len(b.systems) > 1 {
			fmt.Fprintf(out, "System %s\n", name)
		}
		taskbench.Report(out, b.graphs, b.nodes, r)
	}
	return nil
}

// runOn runs the graphs on one system.
func (b *taskBench) runOn(ctx context.Context, name string, nodes *orwl.Nodes) (r taskbench.Result, err error) {
	system, err := b.open(name)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, system.Close()) }()
	if o, ok := system.(*taskbench.ORWL); ok {
		o.Nodes = nodes
	}
	return system.Run(ctx, b.graphs)
}

// sweep searches for the METG of each system. The systems take turns.
func (b *taskBench) sweep(ctx context.Context, out io.Writer) error {
	s := taskbench.Sweep{Workers: b.workers, Threshold: b.threshold, Repeats: b.repeats}
	for _, g := range b.graphs {
		s.Graphs = append(s.Graphs, g.Graph)
	}
	g := s.Graphs[0]
	fmt.Fprintf(out, "METG(%.0f%%) of %d x %s, width %d, %d steps, %v, on %d workers, median of %d\n",
		100*b.threshold, len(s.Graphs), g.Pattern.Name, g.Width, g.Steps, g.Kernel.Type, b.workers, b.repeats)
	for _, name := range b.systems {
		if err := b.sweepOn(ctx, s, name, out); errors.Is(err, native.ErrMissing) {
			fmt.Fprintf(out, "%-16s %v\n", name, err)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// sweepOn searches for the METG of one system.
func (b *taskBench) sweepOn(ctx context.Context, s taskbench.Sweep, name string, out io.Writer) (err error) {
	system, err := b.open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, system.Close()) }()
	m, err := s.Run(ctx, system)
	if errors.Is(err, taskbench.ErrSweep) {
		fmt.Fprintf(out, "%-16s %v\n", name, err)
		return nil
	}
	if err == nil {
		m.Write(out, name, b.detail() > 0)
	}
	return err
}

func (b *taskBench) open(name string) (taskbench.System, error) {
	return taskbench.Open(name, taskbench.Options{Workers: b.workers})
}

// tasks is how many tasks the graphs have.
func (b *taskBench) tasks() (n int64) {
	for _, s := range b.graphs {
		n += s.Totals(0).Tasks
	}
	return n
}
