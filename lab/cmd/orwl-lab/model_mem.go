package main

import (
	"errors"
	"sync"

	"github.com/orwl/go-orwl/lab/meter"
	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rma/model"
	"github.com/orwl/go-orwl/net/topology"
)

// measureGoroutines measures with ranks of this process, and then how they are scheduled.
func measureGoroutines(tree *topology.Tree) (model.Model, error) {
	machine, err := onGoroutines(tree, play)
	if err != nil {
		return machine, err
	}
	machine.Scheduler, err = scheduled(model.Goroutines, machine.Own.Pause,
		func() (hop, error) { return onGoroutines(topology.Flat(crowdRanks()), crowd) },
		func() (float64, error) { return onGoroutines(topology.Flat(2), awaken) })
	return machine, err
}

// onGoroutines lets each rank be a goroutine. It returns the result of rank 0.
func onGoroutines[R any](tree *topology.Tree, part func(rma.Fabric, *meter.Meter, rma.Rank) (R, error)) (result R, err error) {
	fabric, err := mem.New(mem.Options{Topology: tree})
	if err != nil {
		return result, err
	}
	defer fabric.Close()
	meter, err := meter.New(fabric)
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
