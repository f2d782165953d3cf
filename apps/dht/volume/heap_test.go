package volume

import (
	"context"
	"fmt"
	"testing"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

// TestFreeList visits every order in which one rank draws a cell from the free list while
// another draws two and puts the first one back: no cell has two owners.
func TestFreeList(t *testing.T) {
	const heap, drawn = 3, 2
	system := sim.System{Topology: topology.Flat(drawn), Setup: func(f *sim.Fabric) (sim.Program, error) {
		l := Layout{Buckets: 1, Heap: heap}
		base, err := f.Alloc(l.Words())
		has := map[int]rma.Rank{}
		draw := func(a atomics, p rma.Rank) (int, error) {
			n, ok := a.draw()
			if by, taken := has[n]; ok && taken {
				return n, fmt.Errorf("rank %d draws cell %d, which rank %d has", p, n, by)
			}
			if ok {
				has[n] = p
			}
			return n, nil
		}
		return sim.Program{Rank: func(ctx context.Context, w rma.Window) error {
			a := atomics{newTable(reach(w, 0, base, l.Words()), l)}
			if w.Rank() == 0 { // all cells go through its hands into the free list
				for range heap {
					a.draw()
				}
				for n := range heap {
					a.putBack(1 + n)
				}
				a.fetchAdd(headerWords, 1)
			} else if _, err := w.Await(ctx, 0, base+headerWords, rma.Is(1)); err != nil {
				return err
			}
			if w.Rank() == 0 {
				_, err := draw(a, 0)
				if err == nil {
					_, err = draw(a, 0)
				}
				return err
			}
			first, err := draw(a, 1)
			if err != nil {
				return err
			}
			if _, err = draw(a, 1); err != nil {
				return err
			}
			delete(has, first)
			a.putBack(first)
			return nil
		}, State: func() (print uint64) {
			for n, p := range has {
				print += Mix(uint64(n)<<8 | uint64(p))
			}
			return print
		}}, err
	}}
	r := system.Exhaust(sim.Limit{})
	if r.Failure != nil {
		t.Fatal(r.Failure)
	}
	if !r.Complete || r.States < 50 {
		t.Fatalf("the search did not get through: %+v", r)
	}
}
