package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/resource"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	pairs, err := byPairs(ctx, matrix.tasks)
	if err != nil {
		return err
	}
	plan, err := byPlan(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("by pairs:    %016x\nby the plan: %016x\n", pairs, plan)
	if pairs != plan {
		return errors.New("the results differ")
	}
	return nil
}

// byPairs runs each task in a goroutine, and returns a checksum of the result. Before any of them starts, it makes all
// first requests, task by task. So no circle of tasks can wait for each other.
func byPairs(ctx context.Context, tasks func(matrix) []task) (uint64, error) {
	m, err := newMatrix(ctx, func(name string, elements int) (*resource.Resource, error) {
		return resource.New(name, 8*elements)
	})
	if err != nil {
		return 0, err
	}
	all := tasks(m)
	pairs := make([]handle.Vector, len(all))
	for i, t := range all {
		if pairs[i], err = t.request(); err != nil {
			return 0, err
		}
	}
	working, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var group sync.WaitGroup
	for i, t := range all {
		group.Go(func() {
			if err := t.iterate(working, pairs[i]); err != nil {
				stop(fmt.Errorf("%s: %w", t.here.Name(), err)) // otherwise its neighbours wait for ever
			}
		})
	}
	group.Wait()
	if err := context.Cause(working); err != nil {
		return 0, err
	}
	return m.checksum(ctx)
}

// request announces the first turn of a task, by a pair for each resource.
func (t task) request() (handle.Vector, error) {
	pairs, wants := handle.Vector{new(handle.Pair)}, []handle.Want{handle.ToWrite(t.here)}
	for _, r := range t.there {
		pairs, wants = append(pairs, new(handle.Pair)), append(wants, handle.ToRead(r))
	}
	return pairs, pairs.Request(wants...)
}

// iterate is listing 7 of the paper.
func (t task) iterate(ctx context.Context, pairs handle.Vector) (err error) {
	defer func() { _ = pairs.Abandon(err) }() // withdraw from the queues, also after an error
	for range rounds {
		if err := pairs.Acquire(ctx); err != nil { // wait for our turn, here and there
			return err
		}
		if err := t.turn(pairs); err != nil {
			return err
		}
		if err := pairs.Next(); err != nil { // announce our next turn, then let others have theirs
			return err
		}
	}
	return nil
}

// byPlan declares the same tasks in the same order.
func byPlan(ctx context.Context) (uint64, error) {
	rt, err := orwl.New(orwl.Options{})
	if err != nil {
		return 0, err
	}
	m, err := newMatrix(ctx, func(name string, elements int) (*resource.Resource, error) {
		return orwl.Array[float64](rt, name, elements), nil
	})
	if err != nil {
		return 0, err
	}
	for _, t := range m.tasks() {
		declared := rt.Task(t.here.Name())
		here, there := orwl.Writes[float64](declared, t.here), make([]orwl.In[float64], len(t.there))
		for i, r := range t.there {
			there[i] = orwl.Reads[float64](declared, r)
		}
		declared.Each(rounds, func(int) error {
			views := make([]handle.View[float64], len(there))
			for i, in := range there {
				views[i] = in.View()
			}
			t.work(here.Slice(), views)
			return nil
		})
	}
	if err := rt.Run(ctx); err != nil {
		return 0, err
	}
	return m.checksum(ctx)
}
