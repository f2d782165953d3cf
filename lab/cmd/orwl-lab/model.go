package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/lab/arena"
	"github.com/orwl/go-orwl/lab/meter"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rma/model"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
	"github.com/orwl/go-orwl/net/topology/host"
)

// runModel is orwl-lab model.
func runModel(f *flag.FlagSet, args []string, out io.Writer) error {
	window := f.String("window", "mem", command.Usage("window", ""))
	ranks := f.Int("ranks", 0, "measure with `N` ranks; one for each processor if 0")
	machine := f.String("machine", "", command.Usage("machine", ": show a described one and where its figures come from, and measure nothing: "+machineList()))
	v := defineValidation(f)
	asJSON := f.Bool("json", false, command.Usage("json", ": the model, for orwl-lab predict -machine"))
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
	if machine.Direct != nil { // the time of computing matters where an access takes nanoseconds
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

// scheduled is the scheduler of ranks on this machine's processors. A rank on a processor that is idle is
// not startled where there is one processor only.
func scheduled(ranks string, look float64, onOne func() (hop, error), onTwo func() (float64, error)) (*model.Scheduler, error) {
	s := &model.Scheduler{Ranks: ranks, Processors: runtime.GOMAXPROCS(0), Look: look}
	if s.Slice = 10e6; ranks == model.Processes { // Go preempts a goroutine after that
		s.Slice = 3e6  // the base slice of Linux
		s.Slack = 55e3 // the slack of its timers, and a wake-up
	}
	h, err := onOne()
	if s.Wake, s.Change = h.wake, h.change; err != nil || s.Processors == 1 {
		return s, err
	}
	s.Startle, err = onTwo()
	return s, err
}

// play is one rank's part in a measurement.
func play(f rma.Fabric, meter *meter.Meter, p rma.Rank) (model.Model, error) {
	w, err := f.Window(p)
	if err != nil {
		return model.Model{}, err
	}
	return meter.Measure(context.Background(), w, sinceNow())
}

// hop is a hand-over to a rank that sleeps on the same processor.
type hop struct{ wake, change float64 }

// crowd is one rank's part in the measurement of a crowd.
func crowd(f rma.Fabric, meter *meter.Meter, p rma.Rank) (h hop, err error) {
	w, err := f.Window(p)
	if err != nil {
		return h, err
	}
	h.wake, h.change, err = meter.Crowd(context.Background(), w, sinceNow())
	return h, err
}

// pinned is crowd for a rank that is a process. Goroutines that wake each other stay on one processor, and
// processes do not.
func pinned(f rma.Fabric, meter *meter.Meter, p rma.Rank) (h hop, err error) {
	tree, err := host.Detect()
	if err != nil {
		return h, err
	}
	unpin, err := host.Pin(tree, 0)
	switch {
	case err == nil:
		defer unpin()
	case !errors.Is(err, host.ErrNoCPU): // where CPUs have no numbers, processes run where they like
		return h, err
	}
	return crowd(f, meter, p)
}

// awaken is one rank's part in the measurement of a wake-up.
func awaken(f rma.Fabric, meter *meter.Meter, p rma.Rank) (startle float64, err error) {
	w, err := f.Window(p)
	if err != nil {
		return 0, err
	}
	return meter.Awaken(context.Background(), w, sinceNow())
}

func sinceNow() func() time.Duration {
	begin := time.Now()
	return func() time.Duration { return time.Since(begin) }
}
