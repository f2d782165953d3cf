package main

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/stencil/show"
)

// stall is how long the run may make no progress before the runtime reports which task waits
// for which. Sweeping the largest block there can be takes less.
const stall = time.Minute

// solve solves f's problem in a life of the run, with the other nodes if there are any. Then node 0 has the result and what it took,
// and the trace and the film if there are any.
func (f *field) solve(ctx context.Context, rt *orwl.Runtime, m *show.Meter) error {
	f.rt = rt
	begin := time.Now()
	if err := f.trace.begin(f); err != nil {
		return err
	}
	if err := f.declare(ctx); err != nil {
		return err
	}
	f.setup = time.Since(begin)
	if err := f.past.meet(ctx, rt); err != nil {
		return err
	}
	f.begin = time.Now()
	f.figures.show(f)
	_, total := f.cells.Progress()
	stop := m.Watch(f.past.of("sweeping"), total, func() int64 {
		done, _ := f.cells.Progress()
		return done
	})
	err := new(show.Look).Run(ctx, show.Field(f.planes[planeData])) // with ORWL_WATCH, the page shows the matrix
	stop()
	f.past.ended(err)
	if err != nil {
		return err
	}
	f.pace = rt.Inspect().Pace
	all, clocks, err := f.exchange(ctx)
	if err == nil {
		err = f.trace.gather(ctx, f, all[rt.Node()].Took)
	}
	if err == nil && f.film != nil {
		err = f.film.Gather(ctx)
	}
	if err != nil || rt.Node() != 0 {
		return err
	}
	if f.final, err = f.planes[planeData].Values(ctx); err != nil {
		return err
	}
	f.settle(all, clocks)
	return nil
}

// Observe implements orwl.Observer, for the runtime of this life. The nodes have agreed on the placement when the first task
// begins.
func (f *field) Observe(e orwl.Event) {
	f.trace.Observe(e)
	if e.Kind == orwl.Began && f.why != nil {
		f.tells.Do(func() { fmt.Fprint(f.why, f.rt.Placement()) })
	}
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
	stop := m.Watch(f.past.of("verifying"), f.updates(), swept.Load)
	err = f.sequential(ctx, b, &swept)
	took = time.Since(begin)
	stop()
	if err != nil {
		return took, err
	}
	return took, compare(ctx, f.result(), b)
}
