package locks_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
)

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
