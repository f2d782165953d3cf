package main

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/stencil/show"
)

// stall is how long the run may make no progress before the runtime reports which task waits
// for which. Sweeping the largest block there can be takes less.
const stall = time.Minute

// solve solves f's problem, with the other nodes if there are any. Then node 0 has the result and what it took, and
// the trace if there is one.
func (f *field) solve(ctx context.Context, m *show.Meter) error {
	begin := time.Now()
	rt, err := f.program(ctx)
	f.setup = time.Since(begin)
	if err := f.meet(ctx, err); err != nil {
		return err
	}
	f.begin = time.Now()
	f.exhibit.Watch(rt)
	if err := f.exhibit.Register(&figures{field: f}); err != nil {
		return err
	}
	_, total := f.cells.Progress()
	stop := m.Watch("sweeping", total, func() int64 {
		done, _ := f.cells.Progress()
		return done
	})
	err = rt.Run(ctx)
	stop()
	if err != nil {
		return err
	}
	f.pace = rt.Inspect().Pace
	all, clocks, err := f.exchange(ctx)
	if err == nil {
		err = f.trace.gather(ctx, f, all[f.nodes.Number()].Took)
	}
	if err != nil || f.nodes.Number() != 0 {
		return err
	}
	if f.film != nil {
		if err := f.film.Gather(ctx); err != nil {
			return err
		}
	}
	if f.final, err = f.planes[planeData].Values(ctx); err != nil {
		return err
	}
	f.settle(all, clocks)
	return nil
}

// program makes this node's blocks, and declares all nodes' tasks.
func (f *field) program(ctx context.Context) (*orwl.Runtime, error) {
	observers, err := f.trace.observers(f)
	if err != nil {
		return nil, err
	}
	observers = append(observers, f.exhibit.Observers()...)
	var rt *orwl.Runtime
	if f.why != nil { // the nodes have agreed on the placement when the first task begins
		tell := sync.OnceFunc(func() { fmt.Fprint(f.why, rt.Placement()) })
		observers = append(observers, began(func(orwl.Event) { tell() }))
	}
	rt, err = orwl.New(orwl.Options{Stall: stall, Nodes: f.nodes, Log: f.log, Observers: observers, PinWorkers: f.pin})
	if err != nil {
		return nil, err
	}
	return rt, f.declare(ctx, rt)
}

// meet waits until all nodes are ready to begin. If one of them is not, none does.
func (f *field) meet(ctx context.Context, failure error) error {
	var text []byte
	if failure != nil {
		text = []byte(failure.Error())
	}
	all, err := f.nodes.Gather(ctx, "ready", text)
	switch {
	case failure != nil:
		return failure
	case err != nil:
		return err
	}
	for node, text := range all {
		if len(text) > 0 {
			return &orwl.NodeError{Node: node, Text: string(text)}
		}
	}
	return nil
}

// verify computes f's problem once more, sequentially and from initial values
// that it makes for itself, and compares every bit. The grid has given up its coefficients, so
// that there are never more than eight matrices.
func verify(ctx context.Context, f *field, m *show.Meter) (took time.Duration, err error) {
	runtime.GC() // otherwise the old coefficients stay until the heap has doubled
	b, err := f.newBlock(ctx, f.whole())
	if err != nil {
		return 0, err
	}
	var swept atomic.Int64
	begin := time.Now()
	stop := m.Watch("verifying", f.updates(), swept.Load)
	err = f.sequential(ctx, b, &swept)
	took = time.Since(begin)
	stop()
	if err != nil {
		return took, err
	}
	return took, compare(ctx, f.result(), b)
}

// began is an observer of tasks that begin.
type began func(orwl.Event)

// Observe implements orwl.Observer.
func (b began) Observe(e orwl.Event) {
	if e.Kind == orwl.Began {
		b(e)
	}
}
