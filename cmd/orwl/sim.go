package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/sim/specimen"
	"github.com/orwl/go-orwl/net/topology"
)

// simFlags are the flags of orwl sim.
type simFlags struct {
	contestFlags
	shared   bool
	exhaust  bool
	states   int
	seeds    int
	seed     uint64
	schedule string
	given    map[string]bool
}

// errBroken is a lock that broke a promise; what it did has been printed.
var errBroken = errors.New("the lock breaks its promise")

// runSim is orwl sim. Without -lock it shows every specimen of right and wrong
// locks.
func runSim(f *flag.FlagSet, args []string, out io.Writer) error {
	s := simFlags{given: make(map[string]bool)}
	s.define(f, "", "core:2", 3)
	f.BoolVar(&s.shared, "shared", false, "the ranks share memory: play the lock's atomic instructions and wake-ups, and not its operations")
	f.BoolVar(&s.exhaust, "exhaust", false, "visit every state instead of drawing schedules")
	f.IntVar(&s.states, "states", 1<<22, "-exhaust visits at most `N` states")
	f.IntVar(&s.seeds, "seeds", 10000, "draw `N` schedules")
	f.Uint64Var(&s.seed, "seed", 0, "repeat the schedule that seed `N` draws")
	f.StringVar(&s.schedule, "schedule", "", "repeat the schedule `S`, as -exhaust printed it")
	if err := command.Parse(f, args); err != nil {
		return err
	}
	f.Visit(func(f *flag.Flag) { s.given[f.Name] = true })
	contest, err := s.contest()
	if err != nil {
		return err
	}
	if err := errors.Join(inRange("seeds", s.seeds, 1, 1<<40), inRange("states", s.states, 1, 1<<30)); err != nil {
		return err
	}
	if s.given["seed"] && s.given["schedule"] {
		return command.Misusef("-seed and -schedule exclude each other")
	}
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

// judge runs one lock and prints what comes of it.
func (s *simFlags) judge(contest specimen.Contest, lock specimen.Specimen, out io.Writer) error {
	system := contest.System(lock)
	system.Command += s.options.command()
	if system.Shared = s.shared; s.shared {
		system.Command += " -shared"
	}
	begin := time.Now()
	var report sim.Report
	switch {
	case s.given["seed"]:
		report = system.Seed(s.seed)
	case s.given["schedule"]:
		var err error
		if report, err = system.Replay(s.schedule); err != nil {
			return command.Misusef("-schedule: %w", err)
		}
	case s.exhaust:
		report = system.Exhaust(sim.Limit{States: s.states})
	default:
		report = system.Seeds(0, s.seeds)
	}
	fmt.Fprintf(out, "%s: %s\n%s\n", lock.Name, lock.About, tally(report, time.Since(begin)))
	if report.Failure != nil {
		fmt.Fprintf(out, "\n%v\n", report.Failure)
		return errBroken
	}
	if s.exhaust && !report.Complete {
		fmt.Fprintln(out, "no promise broken so far; raise -states to go on")
		return nil
	}
	fmt.Fprintln(out, "no promise broken")
	return nil
}

// tally is a report in a line.
func tally(r sim.Report, took time.Duration) string {
	text := fmt.Sprintf("%d runs, %d steps", r.Runs, r.Steps)
	if r.States > 0 {
		text += fmt.Sprintf(", %d states", r.States)
	}
	return text + fmt.Sprintf(", %v", took.Round(10*time.Microsecond))
}

// zoo shows every specimen: what the simulator is for, in one screen.
func (s *simFlags) zoo(contest specimen.Contest, out io.Writer) error {
	fmt.Fprintf(out, "Ranks acquire each lock %d times; the simulator schedules them.\n\n", contest.Acquisitions)
	fmt.Fprintf(out, "%-16s %-6s %-34s %s\n", "lock", "ranks", "every state", "schedules drawn")
	surprises := 0
	for _, lock := range specimen.All() {
		enough := s.enough(contest, lock)
		system := enough.System(lock)
		all := system.Exhaust(sim.Limit{States: min(s.states, 1<<17)})
		drawn := system.Seeds(0, min(s.seeds, 1000))
		fmt.Fprintf(out, "%-16s %-6d %-34s %s\n", lock.Name, enough.Topology.Ranks(), verdictOfAll(all), verdictOfDrawn(drawn))
		if caught := all.Failure != nil || drawn.Failure != nil; caught != lock.Wrong {
			surprises++
		}
	}
	fmt.Fprintln(out, "\nSee one fail, step by step:  go run ./cmd/orwl sim -lock mcs-no-flush")
	if surprises > 0 {
		return fmt.Errorf("%d verdicts are not as expected", surprises)
	}
	return nil
}

func verdictOfAll(r sim.Report) string {
	switch {
	case r.Failure != nil:
		return fmt.Sprintf("broken after %d states", r.States)
	case r.Complete:
		return fmt.Sprintf("holds in all %d states", r.States)
	}
	return fmt.Sprintf("holds in %d states and goes on", r.States)
}

func verdictOfDrawn(r sim.Report) string {
	if r.Failure != nil {
		return fmt.Sprintf("broken by seed %d", r.Failure.Seed)
	}
	return fmt.Sprintf("holds for %d seeds", r.Runs)
}
