package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/internal/outfile"
	"github.com/orwl/go-orwl/internal/terminal"
	"github.com/orwl/go-orwl/metrics"
	_ "github.com/orwl/go-orwl/net/p2p/quic" // for ORWL_CARRIER=quic
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/launch"
	"github.com/orwl/go-orwl/orwl/nodes"
	"github.com/orwl/go-orwl/orwl/stencil/show"
)

func main() {
	ctx, _, interrupted := command.Interrupts()
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	if code == command.Interrupted && ctx.Err() != nil && !interrupted() {
		code = command.Terminated
	}
	os.Exit(code)
}

// itself is the program, for its version, completion and manual.
var itself = command.Program{
	Name: "llk23", About: "Livermore kernel 23 on ordered read-write locks",
	Flags: func() *flag.FlagSet {
		o := defaults()
		return o.flagSet()
	},
	Alone: alone,
}

// run is the program, alone or as a node of a run. It returns the exit code. As a node of several it leaves SIGTERM to [orwl.Run].
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if code, done := itself.Builtin(args, stdout, stderr); done {
		return code
	}
	var place launch.Place
	o, err := parse(args)
	if err == nil {
		place, err = o.nodes.Place()
	}
	if errors.Is(err, flag.ErrHelp) {
		code, _ := itself.Builtin([]string{"-h"}, stdout, stderr)
		return code
	}
	if err == nil && place.Unmet {
		if place, err = meet(ctx, place, stderr); err != nil {
			fmt.Fprintf(stderr, "llk23: %v\n", err)
			if ctx.Err() != nil {
				return command.Interrupted
			}
			return command.Failed
		}
	}
	var j *job
	if err == nil {
		j, err = newJob(o, place)
	}
	if err != nil {
		fmt.Fprintf(stderr, "llk23: %v (llk23 -h lists the flags)\n", err)
		if errors.Is(err, metrics.ErrTaken) {
			return command.Failed
		}
		return command.Misused
	}
	defer j.close()
	if j.spawns() {
		return j.spawn(ctx, args, stdout, stderr)
	}
	if place.Nodes > 1 {
		signal.Reset(syscall.SIGTERM)
	}
	code := j.run(ctx, stdout, stderr)
	j.monitor.Remain(ctx, j.linger)
	return code
}

// run does the job, and says what has come out. It returns the exit code.
func (j *job) run(ctx context.Context, stdout, stderr io.Writer) int {
	r, err := j.do(ctx, stderr)
	if r != nil {
		if failure := r.write(stdout, j.json); err == nil {
			err = failure
		}
	}
	if err == nil {
		return command.Done
	}
	code := command.Failed
	if ctx.Err() != nil {
		code, err = command.Interrupted, fmt.Errorf("stopped without a result: %w", context.Cause(ctx))
	}
	// The launcher says what a signal has done, and a node that has failed says so itself.
	var other *orwl.NodeError
	if !j.place.How.BySpawn() || ctx.Err() == nil && (!errors.As(err, &other) || other.Lost) {
		fmt.Fprintf(stderr, "llk23: %v\n", err)
	}
	return code
}

// do does the job, with the other nodes if there are any. There is a report if there
// is a result, even a wrong one, and this is node 0 of the last life of the run.
func (j *job) do(ctx context.Context, stderr io.Writer) (r *report, err error) {
	log := terminal.Log(stderr, slog.LevelInfo).With("node", j.place.Node)
	var seen *figures
	if j.monitor != nil {
		seen = new(figures)
		j.monitor.Open(log)
		if err := j.monitor.Register(seen); err != nil {
			return nil, err
		}
	}
	var f *field // of this life
	known := &past{Seat: j.place.Node}
	o := orwl.Options{
		Stall: stall, Log: log, PinWorkers: j.pin, Survive: orwl.Survive{Folder: j.survive},
		Observers: append(j.monitor.Observers(), observe(func(e orwl.Event) { f.Observe(e) })),
		Join:      orwl.JoinOptions{Place: &j.place, Network: nodes.Network{Registerer: j.monitor.Registerer()}},
	}
	err = orwl.Run(ctx, o, func(ctx context.Context, rt *orwl.Runtime) (err error) {
		r, f = nil, newField(j.problem, j.grid, j.tasks)
		f.figures, f.films, f.past = seen, show.IsFilm(j.plot), known
		if j.trace != "" {
			f.trace = &tracing{most: mostSlices}
		}
		m := show.Silent()
		if rt.Node() == 0 {
			m = show.NewMeter("llk23", stderr, log)
			if j.why {
				f.why = stderr
			}
		}
		m.Tell = j.place.Progress
		j.monitor.Watch(rt)
		if err = f.solve(ctx, rt, m); err == nil {
			r, err = j.tell(ctx, f, m)
		}
		return err
	})
	if err != nil && !errors.Is(err, errDiffers) {
		return nil, err
	}
	return r, err
}

// observe is an observer.
type observe func(orwl.Event)

// Observe implements orwl.Observer.
func (o observe) Observe(e orwl.Event) { o(e) }

// tell does with a result what the options say, on node 0. The others wait for that: if node 0 is lost meanwhile, they do its work in the next
// life.
func (j *job) tell(ctx context.Context, f *field, m *show.Meter) (r *report, err error) {
	if f.rt.Node() == 0 {
		if r, err = j.save(ctx, f, m); err != nil {
			return r, err
		}
	} else {
		debug.FreeOSMemory() // node 0 may need it
	}
	if _, err = f.rt.Gather(ctx, "told", nil); err != nil {
		return nil, err
	}
	return r, nil
}

// save writes a result, and verifies it.
func (j *job) save(ctx context.Context, f *field, m *show.Meter) (*report, error) {
	r := newReport(f)
	var err error
	if r.SHA256, err = digest(ctx, f.result()); err != nil || f.unread != nil {
		return nil, cmp.Or(err, f.unread)
	}
	for _, o := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{j.out, f.export},
		{j.trace, func(to io.Writer) error { return f.trace.done.WriteChrome(to) }},
		{j.plot, func(to io.Writer) error {
			if f.film != nil {
				return show.WriteFilms(to, f.film)
			}
			return r.plot(to, f.final)
		}},
	} {
		if o.name == "" {
			continue
		}
		if err := outfile.Write(o.name, o.write); err != nil {
			return nil, err
		}
	}
	if !j.verify {
		return r, nil
	}
	took, err := verify(ctx, f, m)
	if err != nil && !errors.Is(err, errDiffers) {
		return nil, err
	}
	r.compared(took, err)
	return r, err
}

// spawn runs this program once for each node, on this machine or over ssh, and returns the exit
// code. Node 0 prints the result, as it would alone. The lines of other nodes begin with
// the number of the node. This process shows how far all are together. Signals go to the nodes,
// which end by themselves. A node that exits with a code has said why. After an interrupt it says
// nothing, because all would say the same.
func (j *job) spawn(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	program, err := os.Executable()
	if err == nil {
		all := show.Crew{Meter: show.NewMeter("llk23", stderr, terminal.Log(stderr, slog.LevelInfo))}
		err = launch.Spawn(context.Background(), launch.Run{
			Nodes: j.nodes.Nodes, Hosts: j.nodes.Hosts(), Program: program, Args: args,
			Stdout: all.Over(stdout), Stderr: all.Over(stderr), Plain: true, Progress: all.Hear,
		})
		all.Clear()
	}
	if err == nil {
		return command.Done
	}
	var failed *launch.NodeError
	code := command.Failed
	if errors.As(err, &failed) {
		code = failed.ExitCode()
	}
	switch {
	case code == command.Interrupted, code == command.Terminated && ctx.Err() != nil, ctx.Err() != nil && failed != nil && failed.Code == command.Failed:
		// A node may hear of another's interrupt before its own, and then fails.
		code = command.Interrupted
		why := "interrupted"
		if cause := context.Cause(ctx); cause != nil {
			why = cause.Error()
		}
		fmt.Fprintln(stderr, "llk23: stopped without a result:", why)
	case failed == nil || failed.Err != nil || failed.Signal != nil:
		fmt.Fprintf(stderr, "llk23: %v\n", err)
	}
	return code
}

// meet finds the other processes of the run, which have no numbers yet.
func meet(ctx context.Context, place launch.Place, stderr io.Writer) (launch.Place, error) {
	log := terminal.Log(stderr, slog.LevelInfo)
	log.Info("looking for the other processes of the run", "nodes", place.Nodes)
	place, err := orwl.Meet(ctx, place, orwl.JoinOptions{Log: log})
	if err == nil {
		log.Info("all are there", "node", place.Node)
	}
	return place, err
}
