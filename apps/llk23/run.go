package main

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/orwl"
)

// measured is a finished run and what it took.
type measured struct {
	*field
	setup, took time.Duration
}

// stall is for how long nothing may move before the runtime says who waits for
// whom. Sweeping the largest block there can be takes less.
const stall = time.Minute

// solve solves f's problem. If there is a trace, it is filled.
func (f *field) solve(ctx context.Context, tr *trace, m *meter) (*measured, error) {
	begin := time.Now()
	if err := f.prepare(ctx, runtime.GOMAXPROCS(0)); err != nil {
		return nil, err
	}
	rt, err := orwl.New(orwl.Options{Stall: stall})
	if err != nil {
		return nil, err
	}
	if err := f.declare(rt); err != nil {
		return nil, err
	}
	done := &measured{field: f, setup: time.Since(begin)}

	begin = time.Now()
	clock := func() time.Duration { return time.Since(begin) }
	for _, p := range f.parts {
		p.watch.clock = clock
	}
	tr.follow(f, clock)
	stop := m.watch("sweeping", f.updates(), f.swept)
	err = rt.Run(ctx)
	done.took = clock()
	stop()
	for a := range f.actors() {
		a.watch.stop(done.took)
	}
	return done, err
}

// verify computes f's problem once more, sequentially and from initial values
// that it makes for itself, and compares every bit. The field must have given up
// its coefficients, so that there are never more than seven matrices.
func verify(ctx context.Context, f *field, m *meter) (took time.Duration, err error) {
	runtime.GC() // otherwise the old coefficients stay until the heap has doubled
	b, err := f.newBlock(ctx, f.whole())
	if err != nil {
		return 0, err
	}
	var swept atomic.Int64
	begin := time.Now()
	stop := m.watch("verifying", f.updates(), swept.Load)
	err = f.sequential(ctx, b, &swept)
	took = time.Since(begin)
	stop()
	if err != nil {
		return took, err
	}
	return took, compare(ctx, f.result(), b)
}
