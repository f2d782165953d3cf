package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/sim/specimen"
	"github.com/orwl/go-orwl/net/topology"
)

// simFlags are the flags of orwl-lab sim.
type simFlags struct {
	contestFlags
	shared   bool
	exhaust  bool
	states   int
	seeds    int
	seed     uint64
	schedule string
	form     form
	given    map[string]bool
	ctx      context.Context // ends with an interrupt
	progress *progress
}

// errBroken is a lock that broke a promise; what it did has been printed.
var errBroken = errors.New("the lock breaks its promise")

// runSim is orwl-lab sim. Without -lock it shows every specimen of right and wrong
// locks.
func runSim(f *flag.FlagSet, args []string, out io.Writer) error {
	s := simFlags{given: make(map[string]bool), progress: newProgress(os.Stderr)}
	s.define(f, "", "core:2", 3)
	f.BoolVar(&s.shared, "shared", false, "the ranks share memory: play the lock's atomic instructions and wake-ups, and not its operations")
	f.BoolVar(&s.exhaust, "exhaust", false, "visit every state instead of drawing schedules")
	f.IntVar(&s.states, "states", 1<<22, "-exhaust visits at most `N` states")
	f.IntVar(&s.seeds, "seeds", 10000, "draw `N` schedules")
	f.Uint64Var(&s.seed, "seed", 0, "repeat the schedule of "+command.Usage("seed", ""))
	f.StringVar(&s.schedule, "schedule", "", "repeat the schedule `S`, as -exhaust printed it")
	s.form.define(f)
	if err := command.ParseFlags(f, args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		if s.lock = f.Arg(0); !s.isLock() {
			return noLock(s.lock)
		}
		return command.Misusef("unexpected argument %q: want -lock %s", s.lock, s.lock)
	}
	f.Visit(func(f *flag.Flag) { s.given[f.Name] = true })
	contest, err := s.contest()
	if err != nil {
		return err
	}
	if err := errors.Join(inRange("seeds", s.seeds, 1, 1<<40), inRange("states", s.states, 1, 1<<30), s.form.validate()); err != nil {
		return err
	}
	if s.given["seed"] && s.given["schedule"] {
		return command.Misusef("-seed and -schedule exclude each other")
	}
	ctx, stop := untilInterrupt()
	defer stop()
	s.ctx = ctx
	defer s.progress.clear()
	if !s.given["lock"] {
		return s.zoo(contest, out)
	}
	lock, err := s.specimen(contest.Topology)
	if err != nil {
		return err
	}
	return s.judge(s.enough(contest, lock), lock, out)
}

// enough is the contest with as many ranks as show what is wrong with a specimen, unless the user
// has named the machine.
func (s *simFlags) enough(c specimen.Contest, lock specimen.Specimen) specimen.Contest {
	if !s.given["topology"] && lock.Ranks > c.Topology.Ranks() {
		c.Topology = topology.Flat(lock.Ranks)
	}
	return c
}

// system is the contest with a lock, which shows its progress and ends with an interrupt.
func (s *simFlags) system(contest specimen.Contest, lock specimen.Specimen) sim.System {
	system := contest.System(lock)
	system.Command += s.options.command()
	if system.Shared = s.shared; s.shared {
		system.Command += " -shared"
	}
	begin := time.Now()
	system.Progress = func(r sim.Report) bool {
		s.progress.show(func() string { return lock.Name + ": " + tally(r, time.Since(begin)) })
		return s.ctx.Err() == nil
	}
	return system
}

// judge runs one lock and prints what comes of it.
func (s *simFlags) judge(contest specimen.Contest, lock specimen.Specimen, out io.Writer) error {
	system := s.system(contest, lock)
	begin := time.Now()
	var report sim.Report
	search := "drawn"
	switch {
	case s.given["seed"]:
		report, search = system.Seed(s.seed), "seed"
	case s.given["schedule"]:
		var err error
		if report, err = system.Replay(s.schedule); err != nil {
			return command.Misusef("-schedule: %w", err)
		}
		search = "schedule"
	case s.exhaust:
		report, search = system.Exhaust(sim.Limit{States: s.states}), "every state"
	default:
		report = system.Seeds(0, s.seeds)
	}
	took := time.Since(begin)
	s.progress.clear()
	if !s.form.text() {
		v := verdictOf(contest, lock, search, report, took)
		return errors.Join(writeRows(out, s.form, verdictColumns, []verdict{v}, verdict.fields), s.outcome(report))
	}
	fmt.Fprintf(out, "%s: %s\n%s\n", lock.Name, lock.About, tally(report, took))
	switch {
	case report.Failure != nil:
		fmt.Fprintf(out, "\n%v\n", report.Failure)
	case s.ctx.Err() != nil && !report.Complete:
		fmt.Fprintln(out, "no promise broken so far; interrupted")
	case s.exhaust && !report.Complete:
		fmt.Fprintln(out, "no promise broken so far; raise -states to go on")
	default:
		fmt.Fprintln(out, "no promise broken")
	}
	return s.outcome(report)
}

// errInterrupted is a search that an interrupt has ended; what it found has been printed.
var errInterrupted = &command.ExitError{Code: command.Interrupted, Err: errors.New("interrupted")}

// outcome is the error that tells how a search ended.
func (s *simFlags) outcome(r sim.Report) error {
	switch {
	case r.Failure != nil:
		return errBroken
	case s.ctx.Err() != nil && !r.Complete:
		return errInterrupted
	}
	return nil
}

// zoo shows every specimen: what the simulator is for, in one screen.
func (s *simFlags) zoo(contest specimen.Contest, out io.Writer) error {
	if s.form.text() {
		fmt.Fprintf(out, "Ranks acquire each lock %d times; the simulator schedules them.\n\n", contest.Acquisitions)
		fmt.Fprintf(out, "%-16s %-6s %-34s %s\n", "lock", "ranks", "every state", "schedules drawn")
	}
	surprises := 0
	var verdicts []verdict
	for _, lock := range specimen.All() {
		enough := s.enough(contest, lock)
		system := s.system(enough, lock)
		begin := time.Now()
		all := system.Exhaust(sim.Limit{States: min(s.states, 1<<17)})
		between := time.Now()
		drawn := system.Seeds(0, min(s.seeds, 1000))
		verdicts = append(verdicts, verdictOf(enough, lock, "every state", all, between.Sub(begin)),
			verdictOf(enough, lock, "drawn", drawn, time.Since(between)))
		s.progress.clear()
		if s.form.text() {
			fmt.Fprintf(out, "%-16s %-6d %-34s %s\n", lock.Name, enough.Topology.Ranks(), verdictOfAll(all), verdictOfDrawn(drawn))
		}
		if s.ctx.Err() != nil {
			break
		}
		if caught := all.Failure != nil || drawn.Failure != nil; caught != lock.Wrong {
			surprises++
		}
	}
	if !s.form.text() {
		if err := writeRows(out, s.form, verdictColumns, verdicts, verdict.fields); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(out, "\nSee one fail, step by step:  go -C lab run ./cmd/orwl-lab sim -lock mcs-no-flush")
	}
	switch {
	case s.ctx.Err() != nil:
		return errInterrupted
	case surprises > 0:
		return fmt.Errorf("%d verdicts are not as expected", surprises)
	}
	return nil
}
