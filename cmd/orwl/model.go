package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rma/model"
	"github.com/orwl/go-orwl/net/topology"
	"github.com/orwl/go-orwl/net/topology/host"
)

// runModel is orwl model.
func runModel(f *flag.FlagSet, args []string, out io.Writer) error {
	window := f.String("window", "mem", "measure the `WINDOW` mem, ranks as goroutines, or shm, ranks as processes")
	ranks := f.Int("ranks", 0, "measure with `N` ranks; one for each processor if 0")
	asJSON := f.Bool("json", false, "print the model as JSON, for orwl predict -machine")
	if err := command.Parse(f, args); err != nil {
		return err
	}
	if err := inRange("ranks", *ranks, 0, 4096); err != nil {
		return err
	}
	measure := map[string]func(*topology.Tree) (model.Model, error){"mem": measureGoroutines, "shm": measureProcesses}[*window]
	if measure == nil {
		return command.Misusef("-window is %q, want mem or shm", *window)
	}
	tree, err := detected(*ranks)
	if err != nil {
		return err
	}
	machine, err := measure(tree)
	if err != nil {
		return err
	}
	title, _ := os.Hostname() // empty if it is not known
	machine.Name = *window + " on " + title
	if *asJSON {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(machine)
	}
	fmt.Fprint(out, &machine)
	return nil
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

// measureGoroutines runs a meter on ranks of this process.
func measureGoroutines(tree *topology.Tree) (model.Model, error) {
	fabric, err := mem.New(mem.Options{Topology: tree})
	if err != nil {
		return model.Model{}, err
	}
	defer fabric.Close()
	meter, err := model.NewMeter(fabric)
	if err != nil {
		return model.Model{}, err
	}
	models := make([]model.Model, tree.Ranks())
	failures := make([]error, tree.Ranks())
	var all sync.WaitGroup
	for p := range models {
		all.Go(func() {
			models[p], failures[p] = play(fabric, meter, rma.Rank(p))
		})
	}
	all.Wait()
	return models[0], errors.Join(failures...)
}

// play is one rank's part in a measurement.
func play(f rma.Fabric, meter *model.Meter, p rma.Rank) (model.Model, error) {
	w, err := f.Window(p)
	if err != nil {
		return model.Model{}, err
	}
	begin := time.Now()
	return meter.Measure(context.Background(), w, func() time.Duration { return time.Since(begin) })
}
