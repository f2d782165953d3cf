package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/net/rma/model"
	"github.com/orwl/go-orwl/net/sim"
)

// prediction is what orwl predict -json prints.
type prediction struct {
	Lock          string  `json:"lock"`
	Machine       string  `json:"machine"`
	Topology      string  `json:"topology"`
	Ranks         int     `json:"ranks"`
	Acquisitions  int     `json:"acquisitions"`
	Seconds       float64 `json:"seconds"`
	PerSecond     float64 `json:"acquisitions_per_second"`
	Operations    int     `json:"operations"`
	Remote        int     `json:"remote_operations"`
	SimulatedRate float64 `json:"simulated_operations_per_second"`
}

// runPredict is orwl predict.
func runPredict(f *flag.FlagSet, args []string, out io.Writer) error {
	var c contestFlags
	c.define(f, "mcs", "node:64 core:16", 20)
	machine := f.String("machine", "cray-xc30", "the `MACHINE`: a file that orwl model -json wrote, or one of "+strings.Join(machineNames(), ", "))
	seed := f.Uint64("seed", 1, "staggers the ranks' beginnings and draws the faults")
	asJSON := f.Bool("json", false, "print one JSON object and nothing else")
	if err := command.Parse(f, args); err != nil {
		return err
	}
	contest, err := c.contest()
	if err != nil {
		return err
	}
	lock, err := c.specimen(contest.Topology)
	if err != nil {
		return err
	}
	model, err := machineOf(*machine)
	if err != nil {
		return err
	}
	begin := time.Now()
	system := contest.System(lock)
	p := system.Predict(model, *seed)
	took := time.Since(begin)
	if p.Failure != nil {
		return p.Failure
	}
	ranks := contest.Topology.Ranks()
	result := prediction{
		Lock: lock.Name, Machine: model.Name, Topology: contest.Topology.String(), Ranks: ranks,
		Acquisitions: ranks * contest.Acquisitions, Seconds: p.Time.Seconds(),
		PerSecond:  float64(ranks*contest.Acquisitions) / p.Time.Seconds(),
		Operations: p.Operations, Remote: p.Remote,
		SimulatedRate: float64(p.Operations) / took.Seconds(),
	}
	if *asJSON {
		return json.NewEncoder(out).Encode(result)
	}
	fmt.Fprintf(out, "%s on %s (%s), %d ranks, %d acquisitions\n", result.Lock, result.Machine, model.Source, ranks, result.Acquisitions)
	fmt.Fprintf(out, "  %v of virtual time: %.4g acquisitions/s, %v each\n", p.Time, result.PerSecond,
		(p.Time / time.Duration(result.Acquisitions)).Round(time.Nanosecond))
	fmt.Fprintf(out, "  %d operations, %d of them remote\n", p.Operations, p.Remote)
	fmt.Fprintf(out, "  played in %v, %.3g operations/s\n", took.Round(time.Millisecond), result.SimulatedRate)
	return nil
}

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
