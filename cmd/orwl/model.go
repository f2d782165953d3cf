package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/locks/lab/arena"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rma/model"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
	"github.com/orwl/go-orwl/net/topology/host"
)

// runModel is orwl model.
func runModel(f *flag.FlagSet, args []string, out io.Writer) error {
	window := f.String("window", "mem", command.Usage("window", ""))
	ranks := f.Int("ranks", 0, "measure with `N` ranks; one for each processor if 0")
	machine := f.String("machine", "", command.Usage("machine", ": show a described one and where its figures come from, and measure nothing: "+machineList()))
	v := defineValidation(f)
	asJSON := f.Bool("json", false, command.Usage("json", ": the model, for orwl predict -machine"))
	if err := command.Parse(f, args); err != nil {
		return err
	}
	if err := inRange("ranks", *ranks, 0, 4096); err != nil {
		return err
	}
	if v.asked {
		v.form.json = *asJSON
		return v.run(out)
	}
	if *machine != "" {
		return showMachine(*machine, *asJSON, out)
	}
	measured, err := measureHere(*window, *ranks)
	if err != nil {
		return err
	}
	if *asJSON {
		return writeModel(out, measured)
	}
	fmt.Fprint(out, &measured)
	return nil
}

func writeModel(out io.Writer, m model.Model) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(m)
}

// showMachine prints a described machine, and where its figures come from.
func showMachine(name string, asJSON bool, out io.Writer) error {
	m, err := sim.MachineByName(name)
	if err != nil {
		return command.Misusef("-machine: %w", err)
	}
	if asJSON {
		return writeModel(out, m)
	}
	fmt.Fprint(out, &m)
	for _, d := range sim.Described() {
		if d.Model.Name != m.Name {
			continue
		}
		fmt.Fprintln(out)
		for _, f := range d.Figures {
			fmt.Fprintf(out, "%-9s  %s\n           %s\n", f.Grade, f.Figure, f.Source)
		}
	}
	fmt.Fprintf(out, "\nhash of all described machines: %s\n", sim.MachinesHash())
	return nil
}

// measureHere measures a window on this machine.
func measureHere(window string, ranks int) (model.Model, error) {
	measure := map[string]func(*topology.Tree) (model.Model, error){"mem": measureGoroutines, "shm": measureProcesses, "p2p": measureNodes}[window]
	if measure == nil {
		return model.Model{}, command.Misusef("-window is %q, want mem, shm or p2p", window)
	}
	tree, err := detected(ranks)
	if err != nil {
		return model.Model{}, err
	}
	machine, err := measure(tree)
	if err != nil {
		return machine, err
	}
	title, _ := os.Hostname() // empty if it is not known
	machine.Name = window + " on " + title
	if machine.Direct != nil { // what a rank computes matters where an access takes nanoseconds
		machine.Own, err = arena.Own(context.Background(), machine)
	}
	return machine, err
}

// detected is this machine's tree, with a number of ranks unless it is 0.
func detected(ranks int) (*topology.Tree, error) {
	tree, err := host.Detect()
	if err != nil {
		return nil, err
	}
	if ranks > 0 {
		return tree.WithRanks(ranks)
	}
	return tree, nil
}

// crowdRanks is how many ranks outnumber the processors, when a crowd is measured.
func crowdRanks() int { return 8 * runtime.GOMAXPROCS(0) }

// schedulerOf is the scheduler of ranks on this machine's processors. A hop from a rank to one
// that sleeps takes some time: half of it is the wake-up, and half the change of ranks.
func schedulerOf(ranks string, hop float64) *model.Scheduler {
	s := &model.Scheduler{Ranks: ranks, Processors: runtime.GOMAXPROCS(0), Change: hop / 2, Wake: hop / 2}
	if ranks == model.Goroutines {
		s.Slice = 10e6             // Go preempts a goroutine after that
		s.Look, s.Stay = 2e3, 50e3 // packages net/mem and net/internal/direct
		return s
	}
	s.Slice = 3e6               // the base slice of Linux
	s.Slack = 55e3              // the slack of its timers, and a wake-up
	s.Look, s.Stay = 10e3, 50e3 // package net/shm
	return s
}

// play is one rank's part in a measurement.
func play(f rma.Fabric, meter *model.Meter, p rma.Rank) (model.Model, error) {
	w, err := f.Window(p)
	if err != nil {
		return model.Model{}, err
	}
	return meter.Measure(context.Background(), w, sinceNow())
}

// crowd is one rank's part in the measurement of a crowd.
func crowd(f rma.Fabric, meter *model.Meter, p rma.Rank) (float64, error) {
	w, err := f.Window(p)
	if err != nil {
		return 0, err
	}
	return meter.Crowd(context.Background(), w, sinceNow())
}

func sinceNow() func() time.Duration {
	begin := time.Now()
	return func() time.Duration { return time.Since(begin) }
}
