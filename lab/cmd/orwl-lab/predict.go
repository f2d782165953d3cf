package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/net/rma/model"
	"github.com/orwl/go-orwl/net/sim"
)

// runPredict is orwl-lab predict: the benchmarks of orwl-lab bench, in virtual time.
func runPredict(f *flag.FlagSet, args []string, out io.Writer) error {
	b := newBench()
	b.define(f, "")
	brief(f, map[string]string{"time": "10ms", "repeats": "3"})
	plan, err := b.parse(f, args)
	if err != nil {
		return err
	}
	ctx, stop := untilInterrupt()
	defer stop()
	return b.run(ctx, plan, nil, nil, out)
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

// figuresOf says on what a prediction rests. It stands above the figures.
func figuresOf(m model.Model) string {
	if _, err := sim.MachineByName(m.Name); err == nil {
		return fmt.Sprintf("%s (%s), described machines %s", m.Name, m.Source, sim.MachinesHash())
	}
	return fmt.Sprintf("%s (%s), %s", m.Name, m.Source, m.Hash())
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

// here is this machine: see planFlags.measure.
const here = "here"

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
