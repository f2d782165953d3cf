package locks_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/lockstest"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
)

// inLine is ranks that line up for CNA one after the other while rank 0 holds it, and then have it
// in the order want. Each ends then, so that nothing that it does later completes what it has left
// open.
func inLine(t *testing.T, batch int, arrivals, want []int, way way) sim.System {
	return sim.System{Topology: machine(t, "node:2 core:3"), Shared: way == direct, Setup: func(f *sim.Fabric) (sim.Program, error) {
		l, err := specOf(t, "CNA").New(f, locks.Options{Batch: batch, Operations: way == byOperations})
		if err != nil {
			return sim.Program{}, err
		}
		lined, err := f.Alloc(1) // how many have lined up, at rank 0
		served := 0
		rank := func(ctx context.Context, w rma.Window) error {
			place := slices.Index(arrivals, int(w.Rank()))
			if place < 0 {
				return nil
			}
			if _, err := w.Await(ctx, 0, lined, rma.Is(uint64(place))); err != nil {
				return err
			}
			next := func() { w.FetchOp(0, lined, rma.Sum, 1) }
			m := l.At(lockstest.Watch(w, next))
			if err := m.Acquire(ctx); err != nil {
				return err
			}
			if served++; int(w.Rank()) != want[served-1] {
				return fmt.Errorf("rank %d is number %d, want the order %v", w.Rank(), served-1, want)
			}
			if place == 0 {
				next()
				if _, err := w.Await(ctx, 0, lined, rma.Is(uint64(len(arrivals)))); err != nil {
					return err
				}
			}
			m.Release()
			return nil
		}
		return sim.Program{Rank: rank, State: func() uint64 { return uint64(served) }}, err
	}}
}

// A holder that links two nodes completes that before it hands over: it may never come again.
func TestCNACompletesLinks(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	for _, c := range []struct {
		batch          int
		arrivals, want []int
	}{
		// Rank 1 puts the second queue, 3 and 4, before rank 2.
		{2, []int{0, 3, 4, 1, 2}, []int{0, 1, 3, 4, 2}},
		// Rank 1 puts 5 behind 3 and 4 in the second queue, which then becomes the first.
		{9, []int{0, 3, 4, 1, 5, 2}, []int{0, 1, 2, 3, 4, 5}},
	} {
		for _, way := range []way{byOperations, direct} {
			r := inLine(t, c.batch, c.arrivals, c.want, way).Exhaust(sim.Limit{})
			if r.Failure != nil || !r.Complete {
				t.Errorf("%v, %s: %+v, %v", c.arrivals, way, r, r.Err())
			}
		}
	}
}
