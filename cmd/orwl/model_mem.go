package main

import (
	"errors"
	"sync"

	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rma/model"
	"github.com/orwl/go-orwl/net/topology"
)

// measureGoroutines measures with ranks of this process, and then with a crowd of them.
func measureGoroutines(tree *topology.Tree) (model.Model, error) {
	machine, err := onGoroutines(tree, play)
	if err != nil {
		return machine, err
	}
	hop, err := onGoroutines(topology.Flat(crowdRanks()), crowd)
	machine.Scheduler = schedulerOf(model.Goroutines, hop)
	return machine, err
}

// onGoroutines lets each rank be a goroutine. It returns the result of rank 0.
func onGoroutines[R any](tree *topology.Tree, part func(rma.Fabric, *model.Meter, rma.Rank) (R, error)) (result R, err error) {
	fabric, err := mem.New(mem.Options{Topology: tree})
	if err != nil {
		return result, err
	}
	defer fabric.Close()
	meter, err := model.NewMeter(fabric)
	if err != nil {
		return result, err
	}
	failures := make([]error, tree.Ranks())
	var all sync.WaitGroup
	for p := range failures {
		all.Go(func() {
			r, err := part(fabric, meter, rma.Rank(p))
			if failures[p] = err; p == 0 {
				result = r
			}
		})
	}
	all.Wait()
	return result, errors.Join(failures...)
}
