package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/rma/model"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

// onMem holds a contest between goroutines.
func onMem(ctx context.Context, c contest, tree *topology.Tree) (outcome, error) {
	f, err := mem.New(mem.Options{Topology: tree, Context: ctx})
	if err != nil {
		return outcome{}, err
	}
	defer f.Close()
	return hold(ctx, c, f, func(rma.Rank) bool { return true })
}

// hold is this process's part in a contest: the part of the ranks that live here.
func hold(ctx context.Context, c contest, f rma.Fabric, here func(p rma.Rank) bool) (outcome, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a, err := c.on(f)
	if err != nil {
		return outcome{}, err
	}
	begin := time.Now()
	clock := func() time.Duration { return time.Since(begin) }
	var all sync.WaitGroup
	var owners outcome
	errs := make([]error, a.ranks)
	for p := range rma.Rank(a.ranks) {
		if !here(p) {
			continue
		}
		w, err := f.Window(p)
		if err != nil {
			return outcome{}, err
		}
		all.Go(func() {
			o, err := a.play(ctx, w, clock)
			if p == owner {
				owners = o
			}
			if errs[p] = err; err != nil {
				cancel() // the others wait for this rank for ever
			}
		})
	}
	all.Wait()
	return owners, first(errs)
}

// first is the error that came first, if it can be told: not what it has cancelled.
func first(errs []error) error {
	var cancelled error
	for _, err := range errs {
		if errors.Is(err, context.Canceled) {
			cancelled = err
		} else if err != nil {
			return err
		}
	}
	return cancelled
}

// simWords is enough for a lock of a few thousand ranks.
const simWords = 1 << 12

// onSim predicts a contest on a described machine. It subtracts the time of a contest without
// operations: the ranks need that time to begin, and to find out that all have ended.
func onSim(c contest, tree *topology.Tree, machine model.Model) (outcome, error) {
	none := c
	none.Operations = 0
	before, _, err := predict(none, tree, machine)
	if err != nil {
		return outcome{}, err
	}
	all, o, err := predict(c, tree, machine)
	o.took = all - before
	return o, err
}

func predict(c contest, tree *topology.Tree, machine model.Model) (time.Duration, outcome, error) {
	var result outcome
	p := sim.System{Topology: tree, Words: simWords, Setup: func(f *sim.Fabric) (sim.Program, error) {
		a, err := c.on(f)
		return sim.Program{Rank: func(ctx context.Context, w rma.Window) error {
			o, err := a.play(ctx, w, func() time.Duration { return 0 })
			if w.Rank() == owner {
				result = o
			}
			return err
		}}, err
	}}.Predict(machine, c.Seed)
	if p.Failure != nil {
		return 0, result, fmt.Errorf("%s on %s: %w", c.Discipline, machine.Name, p.Failure.Err)
	}
	return p.Time, result, nil
}
