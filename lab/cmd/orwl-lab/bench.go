package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/lab"
	"github.com/orwl/go-orwl/lab/arena"
	"github.com/orwl/go-orwl/lab/report"
)

// bench is a run of orwl-lab bench or orwl-lab predict.
type bench struct {
	planFlags
	form     form
	html     string
	others   others
	progress *progress
	report   report.Report
	failures []error
}

// errCutShort is the end of a command that has printed what there was.
var errCutShort = &command.ExitError{Code: command.Interrupted, Err: errors.New("interrupted: the rest was not played")}

// runBench is orwl-lab bench.
func runBench(f *flag.FlagSet, args []string, out io.Writer) (err error) {
	b := newBench()
	b.define(f, arena.Mem)
	b.others.define(f)
	plan, err := b.parse(f, args)
	if err != nil {
		return err
	}
	b.report.Machine, b.report.Date = thisMachine(), time.Now().Format(time.DateTime)
	ctx, stop := untilInterrupt()
	defer stop()
	theirs, missing, err := b.others.cases(ctx, plan)
	defer func() { err = errors.Join(err, b.others.close()) }()
	if err != nil {
		return err
	}
	return b.run(ctx, plan, theirs, missing, out)
}

func newBench() *bench { return &bench{progress: newProgress(os.Stderr)} }

// define defines the flags of orwl-lab bench and orwl-lab predict.
func (b *bench) define(f *flag.FlagSet, windows string) {
	b.planFlags.define(f, windows)
	f.StringVar(&b.html, "html", "", "write the report with its plots to `FILE`, too")
	b.form.define(f)
}

// parse reads the flags, and begins the report.
func (b *bench) parse(f *flag.FlagSet, args []string) (plan lab.Plan, err error) {
	if err := errors.Join(command.Parse(f, args), b.form.validate()); err != nil {
		return plan, err
	}
	b.report.Title, b.report.Command = f.Name(), strings.Join(append([]string{f.Name()}, args...), " ")
	return b.plan()
}

// run plays a plan and cases of others, and prints the report.
func (b *bench) run(ctx context.Context, plan lab.Plan, theirs []lab.Case, missing []string, out io.Writer) error {
	cases, skipped := plan.Cases()
	cases, b.report.Skipped = append(cases, theirs...), append(skipped, missing...)
	if len(cases) == 0 {
		return command.Misusef("there is nothing to play: %s", strings.Join(b.report.Skipped, "; "))
	}
	if err := b.measure(plan); err != nil {
		return err
	}
	if b.report.Machine == "" { // orwl-lab predict
		b.report.Machine = figuresOf(b.machine)
	}
	err := b.play(ctx, cases)
	return errors.Join(b.write(out), err)
}

// play plays the cases, one after the other, until the user has seen enough.
func (b *bench) play(ctx context.Context, cases []lab.Case) error {
	defer b.progress.clear()
	begin := time.Now()
	for i, c := range cases {
		played := 0
		samples, err := b.others.play(ctx, c, arena.Options{Machine: b.machine, Sampled: func(s lab.Sample) {
			played = max(played, s.Repeat+1)
			b.progress.at(func() string {
				return fmt.Sprintf("%d of %d, %v: %s of %s on %s, repeat %d of %d", i+1, len(cases), time.Since(begin).Round(time.Second),
					c.Benchmark, c.Lock, c.Window, played, c.Repeats)
			})
		}})
		if err := b.take(c, samples, err); err != nil {
			return err
		}
	}
	if n := len(b.failures); n > 0 {
		return fmt.Errorf("%d of %d cases failed: %w", n, len(cases), errors.Join(b.failures...))
	}
	return nil
}

// take takes the samples of a case into the report. An error of one case does not end the others.
func (b *bench) take(c lab.Case, samples []lab.Sample, failure error) error {
	result, err := lab.Summarize(c, samples)
	if err != nil {
		return err
	}
	var broken *lab.ExclusionError
	var stalled *lab.StallError
	switch {
	case failure == nil:
	case errors.Is(failure, context.Canceled):
		result.Note = "interrupted"
	case errors.As(failure, &broken):
		result.Note = "EXCLUSION BROKEN"
	case errors.As(failure, &stalled):
		result.Note = "HANGS"
	default:
		result.Note = "failed"
	}
	if failure == nil || len(samples) > 0 || !errors.Is(failure, context.Canceled) {
		b.report.Results = append(b.report.Results, result)
	}
	switch {
	case errors.Is(failure, context.Canceled):
		return errCutShort
	case failure != nil:
		b.failures = append(b.failures, fmt.Errorf("%s of %s on %s: %w", c.Benchmark, c.Lock, c.Window, failure))
	}
	return nil
}

// write prints the report.
func (b *bench) write(out io.Writer) error {
	var err error
	switch {
	case b.form.json:
		err = b.report.JSON(out)
	case b.form.csv:
		err = b.report.CSV(out)
	default:
		err = b.report.Table(out)
	}
	return errors.Join(err, wholeFile("html", b.html, b.report.HTML))
}

// thisMachine is what a reader of the figures has to know of the machine.
func thisMachine() string {
	text := fmt.Sprintf("%d processors, %s/%s, %s", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	if model := processorModel(); model != "" {
		text = model + ", " + text
	}
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		text += ", load " + strings.Join(strings.Fields(string(load))[:3], " ") + " when it began"
	}
	return text
}

// processorModel is what Linux calls the processor, or empty.
func processorModel() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
