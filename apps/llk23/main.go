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
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, usage())
		return exitDone
	case err != nil:
		fmt.Fprintf(stderr, "llk23: %v (llk23 -h lists the flags)\n", err)
		return exitUsage
	}
	r, err := solve(ctx, o, newMeter(stderr))
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

// solve does what the options say. There is a report if there is a result,
// even a wrong one.
func solve(ctx context.Context, o options, m *meter) (*report, error) {
	p := problem{rows: o.rows, cols: o.cols, iters: o.iters, kernel: listing(), values: smooth}
	s, err := sweepStrips(ctx, p, o.ranks, m)
	if err != nil {
		return nil, err
	}
	r := newReport(s)
	if r.SHA256, err = digest(ctx, s.result()); err != nil {
		return nil, err
	}
	if !o.verify {
		return r, nil
	}
	r.sequential, err = verify(ctx, s.strips, m)
	if err != nil && !errors.Is(err, errDiffers) {
		return nil, err
	}
	r.Verified, r.differs = err == nil, err
	return r, err
}
