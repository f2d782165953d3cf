package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/locks/explore"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/sim/specimen"
	"github.com/orwl/go-orwl/net/topology"
)

// simFlags are the flags of orwl-lab sim.
type simFlags struct {
	lock     string
	play     string
	topology string
	setting  explore.Setting
	options  lockOptions
	budget   explore.Budget
	seed     uint64
	schedule string
	form     form
	given    map[string]bool
	ctx      context.Context // ends with an interrupt
	progress *progress
}

// errBroken is a lock that broke a promise; what it did has been printed.
var errBroken = errors.New("the lock breaks its promise")

// errInterrupted is a search that an interrupt has ended; what it found has been printed.
var errInterrupted = &command.ExitError{Code: command.Interrupted, Err: errors.New("interrupted")}

// The budgets of a specimen, where all of them are shown.
const (
	zooStates = 1 << 15
	zooSeeds  = 200
)

// runSim is orwl-lab sim. Without -lock it shows every specimen of right and wrong locks.
func runSim(f *flag.FlagSet, args []string, out io.Writer) error {
	s := simFlags{given: make(map[string]bool), progress: newProgress(os.Stderr)}
	f.StringVar(&s.lock, "lock", "", command.Usage("lock", ": "+known()))
	f.StringVar(&s.play, "play", "", "play what begins with `PLAY ...`: "+kindNames()+", or a whole name as a failure prints it")
	f.StringVar(&s.topology, "topology", "", command.Usage("topology", "; each play chooses its machines if it is not given"))
	f.IntVar(&s.setting.Acquisitions, "acquire", 0, "each rank acquires `N` times; each play chooses if it is 0")
	f.IntVar(&s.setting.Ranks, "ranks", 16, "the largest machine has at most `N` ranks: 16, 64 or 256")
	f.IntVar(&s.budget.States, "states", 5000, "each search visits at most `N` states; all of them if 0")
	f.IntVar(&s.budget.Seeds, "seeds", 150, "draw `N` schedules of each small game; the others have a share of them")
	f.Uint64Var(&s.seed, "seed", 0, "repeat the schedule of "+command.Usage("seed", ", of one -play"))
	f.StringVar(&s.schedule, "schedule", "", "repeat the schedule `S` of one -play, as a search printed it")
	s.options.define(f)
	s.form.define(f)
	if err := command.ParseFlags(f, args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		if name := f.Arg(0); isLock(name) {
			return command.Misusef("unexpected argument %q: want -lock %s", name, name)
		}
		return noLock(f.Arg(0))
	}
	f.Visit(func(f *flag.Flag) { s.given[f.Name] = true })
	if err := s.validate(); err != nil {
		return err
	}
	ctx, stop := untilInterrupt()
	defer stop()
	s.ctx = ctx
	defer s.progress.clear()
	if !s.given["lock"] {
		return s.zoo(out)
	}
	lock, about, err := s.chosen()
	if err != nil {
		return err
	}
	plays, err := s.plays(lock)
	if err != nil {
		return err
	}
	return s.judge(lock, about, plays, out)
}

func (s *simFlags) validate() error {
	if s.topology != "" {
		tree, err := topology.Parse(s.topology)
		if err != nil {
			return command.Misusef("-topology: %w", err)
		}
		s.setting.Tree = tree
	}
	for _, err := range []error{
		inRange("acquire", s.setting.Acquisitions, 0, 1<<20), inRange("ranks", s.setting.Ranks, 1, 256),
		inRange("seeds", s.budget.Seeds, 1, 1<<40), inRange("states", s.budget.States, 0, 1<<40), s.form.validate(),
	} {
		if err != nil {
			return err
		}
	}
	if s.given["seed"] && s.given["schedule"] {
		return command.Misusef("-seed and -schedule exclude each other")
	}
	return nil
}

// chosen is the lock that the flags name, with the options that they give.
func (s *simFlags) chosen() (lock explore.Lock, about string, err error) {
	lock, about, ok := explored(s.lock)
	if !ok {
		return lock, "", noLock(s.lock)
	}
	if s.topology != "" {
		lock.Command += fmt.Sprintf(" -topology %s", strings.ReplaceAll(s.setting.Tree.String(), " ", ","))
	}
	if s.setting.Acquisitions > 0 {
		lock.Command += fmt.Sprintf(" -acquire %d", s.setting.Acquisitions)
	}
	if s.options == (lockOptions{}) {
		return lock, about, nil
	}
	if lock.Bare {
		return lock, "", command.Misusef("-lock %s has no options: -tl, -tdc, -tr, -tw and -step-back are for the locks of orwl locks", s.lock)
	}
	o, err := s.options.options()
	if err != nil {
		return lock, "", err
	}
	tree := s.setting.Tree
	if tree == nil {
		tree = topology.Flat(2)
	}
	if err := lock.Spec.Validate(tree, o); err != nil {
		return lock, "", command.Misusef("%w", err)
	}
	lock.Fixed = &o
	lock.Command += s.options.command()
	return lock, about, nil
}

// plays are the plays that -play selects.
func (s *simFlags) plays(lock explore.Lock) (chosen []explore.Play, err error) {
	all := explore.Plays(lock, s.setting)
	if lock.Fixed != nil {
		all = slices.DeleteFunc(all, func(p explore.Play) bool {
			return lock.Spec.Validate(p.System(0).Topology, *lock.Fixed) != nil
		})
	}
	for _, p := range all {
		if s.selects(p.Name) {
			chosen = append(chosen, p)
		}
	}
	again := s.given["seed"] || s.given["schedule"]
	switch {
	case len(chosen) == 0:
		return nil, command.Misusef("-play %q: %s has no such play: they begin with %s", s.play, lock.Spec.Name, kindNames())
	case again && len(chosen) > 1:
		return nil, command.Misusef("-seed and -schedule repeat one play, and -play %q selects %d: give the whole name, as the failure prints it", s.play, len(chosen))
	}
	return chosen, nil
}

// selects reports whether -play selects a play: a name, or the beginning of one.
func (s *simFlags) selects(name string) bool {
	if s.play == "" || name == s.play {
		return true
	}
	for _, prefix := range strings.Fields(s.play) { // a machine has commas
		if name == prefix || strings.HasPrefix(name, prefix+"/") {
			return true
		}
	}
	return false
}

// judge plays, and prints what comes of it. It stops at the first promise that is broken.
func (s *simFlags) judge(lock explore.Lock, about string, plays []explore.Play, out io.Writer) error {
	begin := time.Now()
	tallies := make(map[explore.Kind]*tally)
	var verdicts []verdict
	var last sim.Report
	steps := 0
	for i, p := range plays {
		played := time.Now()
		r, err := s.run(p, fmt.Sprintf("%s: play %d of %d, %s", lock.Spec.Name, i+1, len(plays), p.Name))
		if err != nil {
			return err
		}
		last, steps = r, steps+r.Steps
		verdicts = append(verdicts, verdictOf(lock, p.Name, r, time.Since(played)))
		if tallies[p.Kind] == nil {
			tallies[p.Kind] = &tally{kind: p.Kind}
		}
		tallies[p.Kind].add(p, r)
		if r.Failure != nil || s.ctx.Err() != nil {
			break
		}
	}
	s.progress.clear()
	if !s.form.text() {
		return errors.Join(writeRows(out, s.form, verdictColumns, verdicts, verdict.fields), s.outcome(last))
	}
	fmt.Fprintf(out, "%s: %s\n", lock.Spec.Name, about)
	for _, kind := range kinds {
		if t := tallies[kind]; t != nil {
			fmt.Fprintln(out, t)
		}
	}
	fmt.Fprintf(out, "%d plays, %d steps, %v\n", len(verdicts), steps, time.Since(begin).Round(10*time.Millisecond))
	s.conclude(lock, tallies, verdicts[len(verdicts)-1].Play, last, out)
	return s.outcome(last)
}

// run plays one play, or repeats one run of it.
func (s *simFlags) run(p explore.Play, what string) (sim.Report, error) {
	switch {
	case s.given["seed"]:
		return p.Seed(s.seed), nil
	case s.given["schedule"]:
		r, err := p.Replay(s.schedule)
		if err != nil {
			return r, command.Misusef("-schedule: %w", err)
		}
		return r, nil
	}
	b := s.budget
	b.Progress = func(r sim.Report) bool {
		s.progress.show(func() string { return fmt.Sprintf("%s: %d runs", what, r.Runs) })
		return s.ctx.Err() == nil
	}
	return p.Run(b), nil
}

// conclude prints the end of a report.
func (s *simFlags) conclude(lock explore.Lock, tallies map[explore.Kind]*tally, play string, last sim.Report, out io.Writer) {
	switch {
	case last.Failure != nil:
		fmt.Fprintf(out, "\nbroken by %s\n%v\n", play, last.Failure)
		return
	case s.ctx.Err() != nil:
		fmt.Fprintln(out, "no promise broken so far; interrupted")
	default:
		fmt.Fprintln(out, "no promise broken")
	}
	if s.given["seed"] || s.given["schedule"] {
		return
	}
	fmt.Fprintln(out, "not played:")
	for _, what := range notPlayed(lock, s.setting, tallies, s.play != "") {
		fmt.Fprintln(out, "  "+what)
	}
}

// outcome is the error that tells how a search ended.
func (s *simFlags) outcome(r sim.Report) error {
	switch {
	case r.Failure != nil:
		return errBroken
	case s.ctx.Err() != nil:
		return errInterrupted
	}
	return nil
}

// zoo shows every specimen: what the simulator is for, in one screen.
func (s *simFlags) zoo(out io.Writer) error {
	if s.form.text() {
		fmt.Fprintf(out, "%-16s %s\n", "lock", "what the simulator says")
	}
	surprises := 0
	var verdicts []verdict
	b := &s.budget
	b.States, b.Seeds = min(b.States, zooStates), min(b.Seeds, zooSeeds)
	for _, l := range specimen.All() {
		v, err := s.first(planted(l))
		if err != nil {
			return err
		}
		verdicts = append(verdicts, v)
		s.progress.clear()
		if s.form.text() {
			fmt.Fprintf(out, "%-16s %s\n", l.Name, inAWord(v))
		}
		if s.ctx.Err() != nil {
			break
		}
		if (v.Failure != "") != l.Wrong {
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

// first is the verdict of the play that breaks a lock, or of all plays together.
func (s *simFlags) first(lock explore.Lock) (sum verdict, err error) {
	begin := time.Now()
	sum = verdictOf(lock, "all", sim.Report{Complete: true}, 0)
	for _, p := range explore.Plays(lock, s.setting) {
		if !s.selects(p.Name) {
			continue
		}
		r, err := s.run(p, lock.Spec.Name+": "+p.Name)
		if err != nil {
			return sum, err
		}
		v := verdictOf(lock, p.Name, r, time.Since(begin))
		v.Runs, v.Steps, v.States = v.Runs+sum.Runs, v.Steps+sum.Steps, v.States+sum.States
		if r.Failure != nil || s.ctx.Err() != nil {
			return v, nil
		}
		if complete := v.Complete && sum.Complete; !complete {
			v.Complete, v.Verdict = false, "holds so far"
		}
		v.Play = "all"
		sum = v
	}
	return sum, nil
}

// inAWord is a verdict of the list of all specimens.
func inAWord(v verdict) string {
	failure, _, _ := strings.Cut(v.Failure, "\n")
	if v.Failure != "" {
		return fmt.Sprintf("broken after %d runs, by %s: %s", v.Runs, v.Play, failure)
	}
	return fmt.Sprintf("%s in %d runs and %d states", v.Verdict, v.Runs, v.States)
}

// kindNames are the beginnings of the names of plays.
func kindNames() string {
	var names []string
	for _, kind := range kinds {
		names = append(names, string(kind))
	}
	return strings.Join(names, ", ")
}
