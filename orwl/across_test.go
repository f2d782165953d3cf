package orwl

import (
	"context"
	"errors"
	"testing"

	"github.com/orwl/go-orwl/internal/queue"
)

// A node whose context ends has the run end on all nodes, also if it has no task, and at any time.
func TestContextOfOneNodeEnds(t *testing.T) {
	for when, rounds := range map[string]int{"before the run": 0, "in the run": 3} {
		nodes := crew(t, 2)
		ctx, cancel := context.WithCancel(t.Context())
		if rounds == 0 {
			cancel()
		}
		each(nodes, func(i int, n *Nodes) {
			rt := mustNew(t, Options{Nodes: n})
			r := rt.Resource("r", 8)
			rt.Home(r, 1)
			task := rt.Task("works").On(0)
			w := task.Write(r)
			task.Each(-1, func(round int) error {
				if Write[uint64](w)[0]++; round == rounds {
					cancel()
				}
				return nil
			})
			mine := t.Context()
			if i == 1 {
				mine = ctx
			}
			var other *NodeError
			if err := rt.Run(mine); i == 1 && !errors.Is(err, context.Canceled) || i == 0 && (!errors.As(err, &other) || other.Node != 1) {
				t.Errorf("%s: node %d returns %v", when, i, err)
			}
		})
		disband(t, nodes)
		cancel()
	}
}

// Each node numbers the grants of a resource alike: a fence is used once, and readers have the fence of the last writer.
func TestFencesOnNodes(t *testing.T) {
	const rounds = 10
	nodes := crew(t, 3)
	defer disband(t, nodes)
	fences := make([][]uint64, 3)
	each(nodes, func(i int, n *Nodes) {
		rt := mustNew(t, Options{Nodes: n})
		r := rt.Resource("r", 8)
		rt.Home(r, 1)
		if i == 1 {
			if err := Fill(t.Context(), r, func(all []uint64) { all[0] = 1 }); err != nil {
				t.Error(err)
			}
		}
		for on, mode := range []queue.Mode{queue.Write, queue.Write, queue.Read} {
			task := rt.Task(string(rune('a' + on))).On(on)
			a := task.access(core(r), mode, nil)
			task.Each(rounds, func(int) error {
				fences[on] = append(fences[on], a.Place().Fence())
				return nil
			})
		}
		if err := rt.Run(t.Context()); err != nil {
			t.Error(err)
		}
	})
	for k := range rounds {
		first, second, read := fences[0][k], fences[1][k], fences[2][k]
		if second != first+1 || read != second || k > 0 && first != fences[1][k-1]+1 {
			t.Fatalf("round %d: fences %d, %d and %d, of all %v", k, first, second, read, fences)
		}
	}
}
