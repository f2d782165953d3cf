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

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/internal/terminal"
	"github.com/orwl/go-orwl/metrics"
	"github.com/orwl/go-orwl/orwl/launch"
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

// run is the program, alone or as a node of a run. It returns the exit code.
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
	code := j.run(ctx, stdout, stderr)
	j.exhibit.Remain(ctx, j.linger)
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
	if !j.said(ctx, err) {
		fmt.Fprintf(stderr, "llk23: %v\n", err)
	}
	return code
}

// do does the job, with the other nodes if there are any. There is a report if there
// is a result, even a wrong one, and this is node 0.
func (j *job) do(ctx context.Context, stderr io.Writer) (*report, error) {
	log := terminal.Log(stderr, slog.LevelInfo).With("node", j.place.Node)
	m := show.Silent()
	if j.place.Node == 0 {
		m = show.NewMeter("llk23", stderr, log)
	}
	m.Tell = j.place.Progress
	nodes, err := j.join(ctx, stderr)
	if err != nil {
		return nil, err
	}
	j.exhibit.Open(nodes, log)
	f := newField(j.problem, j.grid, j.tasks)
	f.nodes, f.exhibit, f.log, f.pin, f.films = nodes, j.exhibit, log, j.pin, show.IsFilm(j.options.plot)
	if j.options.trace != "" {
		f.trace = &tracing{most: mostSlices}
	}
	if j.why && j.place.Node == 0 {
		f.why = stderr
	}
	err = f.solve(ctx, m)
	// The others need not wait for what node 0 does with the result.
	if left := leave(ctx, nodes, err != nil); err == nil {
		err = left
	}
	if err != nil || j.place.Node != 0 {
		return nil, err
	}
	return j.tell(ctx, f, m)
}

// tell does with a result what the options say.
func (j *job) tell(ctx context.Context, f *field, m *show.Meter) (*report, error) {
	r := newReport(f)
	var err error
	if r.SHA256, err = digest(ctx, f.result()); err != nil || f.unread != nil {
		return nil, cmp.Or(err, f.unread)
	}
	if err := errors.Join(
		j.out.Finish(f.export),
		j.trace.Finish(func(to io.Writer) error { return f.trace.done.WriteChrome(to) }),
		j.plot.Finish(func(to io.Writer) error {
			if f.film != nil {
				return show.WriteFilms(ctx, to, f.film)
			}
			return r.plot(to, f.final)
		}),
	); err != nil {
		return nil, err
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
