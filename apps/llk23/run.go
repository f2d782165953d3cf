package main

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// measured is a finished sweep and what it took.
type measured struct {
	*strips
	setup, took time.Duration
}

// sweepStrips solves p on ranks that are goroutines of this process.
func sweepStrips(ctx context.Context, p problem, ranks int, m *meter) (*measured, error) {
	// The first rank to fail ends the others: the fabric fails with ctx.
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	f, err := mem.New(mem.Options{Topology: topology.Flat(ranks), Words: stripWords(p.cols), Context: ctx})
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s, err := newStrips(f, p)
	if err != nil {
		return nil, err
	}
	each := func(do func(rma.Rank) error) error {
		var all sync.WaitGroup
		for r := range ranks {
			all.Go(func() {
				if err := do(rma.Rank(r)); err != nil {
					fail(err)
				}
			})
		}
		all.Wait()
		return context.Cause(ctx)
	}

	begin := time.Now()
	if err := each(func(r rma.Rank) error { return s.prepare(ctx, r) }); err != nil {
		return nil, err
	}
	result := &measured{strips: s, setup: time.Since(begin)}

	begin = time.Now()
	s.clock = func() time.Duration { return time.Since(begin) }
	stop := m.watch("sweeping", p.updates(), s.swept)
	err = each(func(r rma.Rank) error {
		w, err := f.Window(r)
		if err != nil {
			return err
		}
		return s.sweep(ctx, w)
	})
	result.took = s.clock()
	stop()
	for _, part := range s.parts {
		part.watch.stop(result.took)
	}
	return result, err
}

// verify computes s's problem once more, sequentially and from initial values
// that it makes for itself, and compares every bit. It gives up s's
// coefficients, so that there are never more than seven matrices.
func verify(ctx context.Context, s *strips, m *meter) (took time.Duration, err error) {
	for _, part := range s.parts {
		part.forget()
	}
	runtime.GC() // otherwise the old coefficients stay until the heap has doubled
	b, err := newBlock(ctx, s.whole(), s.values)
	if err != nil {
		return 0, err
	}
	var swept atomic.Int64
	begin := time.Now()
	stop := m.watch("verifying", s.updates(), swept.Load)
	err = s.sequential(ctx, b, &swept)
	took = time.Since(begin)
	stop()
	if err != nil {
		return took, err
	}
	return took, compare(ctx, s.result(), b)
}
