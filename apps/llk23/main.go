package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Exit codes.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the program. It returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stdout, usage())
		return exitDone
	}
	var j *job
	if err == nil {
		j, err = newJob(o)
	}
	if err != nil {
		fmt.Fprintf(stderr, "llk23: %v (llk23 -h lists the flags)\n", err)
		return exitUsage
	}
	defer j.close()
	r, err := j.do(ctx, newMeter(stderr))
	if r != nil {
		if failure := r.write(stdout, o.json); err == nil {
			err = failure
		}
	}
	switch {
	case err == nil:
		return exitDone
	case ctx.Err() != nil:
		fmt.Fprintf(stderr, "llk23: stopped without a result: %v\n", context.Cause(ctx))
		return exitInterrupted
	}
	fmt.Fprintf(stderr, "llk23: %v\n", err)
	return exitFailed
}

// do does the job. There is a report if there is a result, even a wrong one.
func (j *job) do(ctx context.Context, m *meter) (*report, error) {
	var tr *trace
	if j.trace != nil {
		tr = newTrace(mostSlices)
	}
	f, err := newField(j.problem, j.grid, j.tasks).solve(ctx, tr, m)
	if err != nil {
		return nil, err
	}
	f.forget()
	r := newReport(f)
	if r.SHA256, err = digest(ctx, f.result()); err != nil {
		return nil, err
	}
	if err := errors.Join(
		j.out.finish(f.export),
		j.trace.finish(tr.write),
		j.plot.finish(func(to io.Writer) error { return r.plot(to, f.result()) }),
	); err != nil {
		return nil, err
	}
	if !j.verify {
		return r, nil
	}
	r.sequential, err = verify(ctx, f.field, m)
	if err != nil && !errors.Is(err, errDiffers) {
		return nil, err
	}
	r.Verified, r.differs = err == nil, err
	return r, err
}
