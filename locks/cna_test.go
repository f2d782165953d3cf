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

// All ranks of an element find one node for it, also when they come at the same time, and no two
// elements have the same. Two nodes for an element would not show in a contest: each would
// still keep out the others.
func TestCSTFindsOneNode(t *testing.T) {
	rings.Computes(t)
	t.Parallel()
	for _, way := range []way{byOperations, direct} {
		for _, text := range []string{"core:3", "node:3 core:1", "node:2 core:2"} {
			tree := machine(t, text)
			var nodes []locks.Rank
			system := sim.System{Topology: tree, Shared: way == direct, Setup: func(f *sim.Fabric) (sim.Program, error) {
				nodes = make([]locks.Rank, tree.Ranks())
				l, err := specOf(t, "CST").New(f, locks.Options{})
				return sim.Program{
					Rank: func(_ context.Context, w rma.Window) error {
						nodes[w.Rank()] = locks.CSTNode(l.At(w))
						return nil
					},
					Check: func() error {
						n := tree.Levels()
						for p, node := range nodes {
							element := tree.Element(locks.Rank(p), n)
							if node != nodes[tree.TailRank(n, element)] || tree.Element(node, n) != element {
								return fmt.Errorf("the ranks found their nodes at %v", nodes)
							}
						}
						return nil
					},
				}, err
			}}
			r := system.Exhaust(sim.Limit{})
			if r.Failure != nil || !r.Complete {
				t.Errorf("%s, %s: %+v, %v", way, text, r, r.Err())
			}
		}
	}
}

// Elements stand in the list in the order in which their first ranks came, each with the node of
// that rank.
func TestCSTListsFirstComers(t *testing.T) {
	l, f := onMem(t, "CST", "node:3 core:2", locks.Options{Operations: true})
	for _, p := range []locks.Rank{3, 4, 2, 5, 3} {
		w, err := f.Window(p)
		must(err)
		m := l.At(w)
		must(m.Acquire(context.Background()))
		m.Release()
	}
	w, err := f.Window(0)
	must(err)
	if got := locks.CSTList(l.At(w)); fmt.Sprint(got) != "[3 4]" {
		t.Errorf("the list is %v, want ranks 3 and 4: no rank of the first element has come", got)
	}
}

// The first rank that comes for RH from another element brings the lock there, and a rank of
// a third element follows it. With T_L = 2 a rank leaves the lock to its neighbour once, and
// then frees it for all.
func TestRHGoesFromElementToElement(t *testing.T) {
	for _, way := range []way{byOperations, direct} {
		v := newVisitors(t, "RH", "node:3 core:2", locks.Options{TL: []int{1, 2}, Operations: way == byOperations})
		must(v.m[0].Acquire(context.Background()))
		v.comes(2)
		v.m[0].Release()
		v.all.Wait()
		if got, want := v.counts(), (locks.Counts{Acquired: 2, Upper: 2}); got != want {
			t.Fatalf("%s: counted %+v, want %+v", way, got, want)
		}
		if c := v.m[2].(locks.Counter).Counts(); c.UpperWaited != 1 {
			t.Errorf("%s: the rank that has waited for another element counted %+v", way, c)
		}
		must(v.m[4].Acquire(context.Background())) // by element 1
		v.comes(5)
		v.comes(0)
		v.m[4].Release() // to its neighbour
		v.all.Wait()
		if want := []int{2, 5, 0}; !slices.Equal(v.order, want) {
			t.Errorf("%s: the order is %v, want %v", way, v.order, want)
		}
		if got, want := v.counts(), (locks.Counts{Acquired: 5, Upper: 4, Passed: 1}); got != want {
			t.Errorf("%s: counted %+v, want %+v", way, got, want)
		}
	}
}

// With T_L = 2 two ranks of an element have RH one after the other. The second frees it for
// all, though its neighbour waits.
func TestRHFreesForAll(t *testing.T) {
	for _, way := range []way{byOperations, direct} {
		v := newVisitors(t, "RH", "node:2 core:2", locks.Options{TL: []int{1, 2}, Operations: way == byOperations})
		must(v.m[0].Acquire(context.Background()))
		has := acquireAsync(v.m[1])
		<-v.waits[1]
		v.m[0].Release()
		wait(t, has)
		v.comes(0)
		v.m[1].Release()
		v.all.Wait()
		if got, want := v.counts(), (locks.Counts{Acquired: 3, Upper: 2, Passed: 1}); got != want {
			t.Errorf("%s: counted %+v, want %+v", way, got, want)
		}
	}
}
