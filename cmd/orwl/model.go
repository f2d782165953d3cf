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

	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// runModel is orwl model: it measures the window of one process.
func runModel(f *flag.FlagSet, args []string, out io.Writer) error {
	ranks := f.Int("ranks", 0, "how `many` ranks to measure with; one for each processor if 0")
	asJSON := f.Bool("json", false, "print the model as JSON, for orwl predict -machine")
	if err := parse(f, args); err != nil {
		return err
	}
	if err := inRange("ranks", *ranks, 0, 4096); err != nil {
		return err
	}
	tree, err := detected(*ranks)
	if err != nil {
		return err
	}
	model, err := measure(tree)
	if err != nil {
		return err
	}
	if *asJSON {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(model)
	}
	fmt.Fprint(out, &model)
	return nil
}

// detected is this machine's tree, with a number of ranks unless it is 0.
func detected(ranks int) (*topology.Tree, error) {
	tree, err := topology.Detect()
	if err != nil {
		return nil, err
	}
	if ranks > 0 {
		return tree.WithRanks(ranks)
	}
	return tree, nil
}

// measure runs a meter on a fabric of goroutines.
func measure(tree *topology.Tree) (rma.Model, error) {
	fabric, err := mem.New(mem.Options{Topology: tree})
	if err != nil {
		return rma.Model{}, err
	}
	defer fabric.Close()
	meter, err := rma.NewMeter(fabric)
	if err != nil {
		return rma.Model{}, err
	}
	begin := time.Now()
	clock := func() time.Duration { return time.Since(begin) }
	models := make([]rma.Model, tree.Ranks())
	failures := make([]error, tree.Ranks())
	var all sync.WaitGroup
	for p := range models {
		all.Go(func() {
			w, err := fabric.Window(rma.Rank(p))
			if err == nil {
				models[p], err = meter.Run(context.Background(), w, clock)
			}
			failures[p] = err
		})
	}
	all.Wait()
	host, _ := os.Hostname() // only for the title
	models[0].Name = "mem on " + host
	return models[0], errors.Join(failures...)
}
