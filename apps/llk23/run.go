package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/stencil/show"
)

// measured is a finished run and what it took.
type measured struct {
	*field
	took       time.Duration // from the start of the runtime to the end of the last task
	shipped    int64         // bytes of contents that went from node to node meanwhile
	processors int           // of all nodes: each node counts the events of its whole host
}

// stall is how long the run may make no progress before the runtime reports which task waits
// for which. Sweeping the largest block there can be takes less.
const stall = time.Minute

// solve solves f's problem, with the other nodes if there are any. Node 0 has the result
// then; the others have nothing measured. If there is a trace, it is filled.
func (f *field) solve(ctx context.Context, tr *tracing, m *show.Meter) (*measured, error) {
	f.trace = tr
	begin := time.Now()
	rt, err := f.program(ctx)
	f.setup = time.Since(begin)
	if err := f.meet(ctx, err); err != nil {
		return nil, err
	}
	f.begin = time.Now()
	if err := f.follow(rt); err != nil {
		return nil, err
	}
	stop := m.Watch("sweeping", f.cells.Progress().Total, func() int64 { return f.cells.Progress().Done })
	err = rt.Run(ctx)
	stop()
	if err != nil {
		return nil, err
	}
	all, clocks, err := f.exchange(ctx)
	if err == nil {
		err = tr.gather(ctx, f, all[f.nodes.Number()].Took)
	}
	if err != nil || f.nodes.Number() != 0 {
		return nil, err
	}
	if f.film != nil {
		if err := f.film.Gather(ctx); err != nil {
			return nil, err
		}
	}
	if f.final, err = f.planes[planeData].Values(ctx); err != nil {
		return nil, err
	}
	return f.settle(all, clocks), nil
}

// follow shows the runtime, and what the blocks do.
func (f *field) follow(rt *orwl.Runtime) error {
	f.exhibit.Watch(rt)
	return f.exhibit.Register(&figures{field: f})
}

// program makes this node's blocks, and declares everybody's tasks.
func (f *field) program(ctx context.Context) (*orwl.Runtime, error) {
	observers, err := f.trace.observers(f)
	if err != nil {
		return nil, err
	}
	observers = append(observers, f.exhibit.Observers()...)
	why := &teller{to: f.why}
	if f.why != nil {
		observers = append(observers, why)
	}
	rt, err := orwl.New(orwl.Options{Stall: stall, Nodes: f.nodes, Log: f.log, Observers: observers, PinWorkers: f.pin})
	if err != nil {
		return nil, err
	}
	why.runtime = rt
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

// teller writes where the run's tasks and frontiers are, and why, when the first task of
// this node begins: the nodes have agreed on it then. It is an observer of the runtime.
type teller struct {
	to      io.Writer
	runtime *orwl.Runtime
	once    sync.Once
}

// Observe implements orwl.Observer.
func (w *teller) Observe(e orwl.Event) {
	if e.Kind == orwl.Began {
		w.once.Do(func() { fmt.Fprint(w.to, w.runtime.Placement()) })
	}
}
