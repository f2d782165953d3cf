package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/locks/lab/arena"
	"github.com/orwl/go-orwl/locks/lab/report"
	"github.com/orwl/go-orwl/net/rma/model"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

// runPredict is orwl predict: the benchmarks of orwl bench, in virtual time.
func runPredict(f *flag.FlagSet, args []string, out io.Writer) error {
	b := bench{progress: newProgress(os.Stderr)}
	b.plan.define(f, "")
	machine := f.String("machine", "piz-daint", "the `MACHINE`: a file that orwl model -json wrote, or one of "+machineList())
	f.StringVar(&b.html, "html", "", "write the report with its plots to `FILE`, too")
	b.form.define(f)
	brief(f, map[string]string{"time": "10ms", "repeats": "3"})
	if err := command.Parse(f, args); err != nil {
		return err
	}
	if err := b.form.validate(); err != nil {
		return err
	}
	plan, err := b.plan.plan()
	if err != nil {
		return err
	}
	if b.machine, err = machineOf(*machine); err != nil {
		return err
	}
	given := map[string]bool{}
	f.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if !given["topology"] && !given["nodes"] {
		if plan.Machines, err = treesOn(b.machine, b.plan.ranks); err != nil {
			return err
		}
	}
	plan.Windows = []string{arena.Sim}
	cases, skipped := plan.Cases()
	if len(cases) == 0 {
		return command.Misusef("there is nothing to play: %s", strings.Join(skipped, "; "))
	}
	b.report = report.Report{
		Title: "orwl predict", Command: strings.Join(append([]string{"orwl predict"}, args...), " "),
		Machine: figuresOf(b.machine), Skipped: skipped,
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err = b.play(ctx, cases)
	return errors.Join(b.write(out), err)
}

// brief changes defaults: virtual time has no noise, and a little of it is many turns.
func brief(f *flag.FlagSet, defaults map[string]string) {
	for name, value := range defaults {
		one := f.Lookup(name)
		if err := one.Value.Set(value); err != nil {
			panic(fmt.Sprintf("-%s: %v", name, err)) // a default of ours
		}
		one.DefValue = value
	}
}

// treesOn are the trees of so many ranks each, on nodes of the machine's size.
func treesOn(m model.Model, ranks string) ([]*topology.Tree, error) {
	return list("ranks", ranks, func(s string) (*topology.Tree, error) {
		n, err := strconv.Atoi(s)
		if err != nil {
			return nil, err
		}
		if n < 1 || n > 1<<16 {
			return nil, fmt.Errorf("want 1 to %d", 1<<16)
		}
		nodes := 1
		if m.Node > 0 {
			nodes = (n + m.Node - 1) / m.Node
		}
		return topology.Parse(dealt(n, nodes))
	})
}

// figuresOf says on what a prediction rests. It stands above the figures.
func figuresOf(m model.Model) string {
	if _, err := sim.MachineByName(m.Name); err == nil {
		return fmt.Sprintf("%s (%s), described machines %s", m.Name, m.Source, sim.MachinesHash())
	}
	return fmt.Sprintf("%s (%s)", m.Name, m.Source)
}

// machineList are the described machines.
func machineList() string { return strings.Join(machineNames(), ", ") }

func machineNames() []string {
	var names []string
	for _, m := range sim.Machines() {
		names = append(names, m.Name)
	}
	return names
}

// machineOf is a described machine, or a measured one from a file.
func machineOf(name string) (model.Model, error) {
	machine, err := sim.MachineByName(name)
	if err == nil {
		return machine, nil
	}
	text, readErr := os.ReadFile(name)
	if readErr != nil {
		return machine, command.Misusef("-machine: %w, and it is no file: %w", err, readErr)
	}
	if err := json.Unmarshal(text, &machine); err != nil {
		return machine, command.Misusef("-machine: %s: %w", name, err)
	}
	if err := machine.Validate(); err != nil {
		return machine, command.Misusef("-machine: %s: %w", name, err)
	}
	return machine, nil
}
