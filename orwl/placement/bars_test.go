package placement

import (
	"math/rand/v2"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
)

// near is tasks in a row, each linked to some that are not far, called by
// numbers that tell nothing.
func near(tasks, links, reach int) Graph {
	r := rand.New(rand.NewPCG(11, 12))
	g := Graph{Tasks: tasks}
	number := r.Perm(tasks)
	for range links {
		a := r.IntN(tasks)
		g.Edges = append(g.Edges, Edge{number[a], number[(a+1+r.IntN(reach))%tasks], 1 + r.Int64N(20)})
	}
	return g
}

// inRow is tasks in a row in the order of their numbers, linked to near ones.
func inRow(seed uint64, tasks int) Graph {
	r := rand.New(rand.NewPCG(seed, 0))
	g := Graph{Tasks: tasks}
	for range 3 * tasks {
		if a, b := r.IntN(tasks), r.IntN(8); b > 0 && a+b < tasks {
			g.Edges = append(g.Edges, Edge{a, a + b, 1 + r.Int64N(20)})
		}
	}
	return g
}

// The bars of each part of the search, which it must reach: a bar may only be lowered. The cut
// is between two halves of all, divided is without trades of blocks in order.
func TestBars(t *testing.T) {
	rings.Computes(t)
	r := rand.New(rand.NewPCG(13, 14))
	wide := drawnGraph(r, 300, 600, 50, 1)
	loads := near(300, 900, 20)
	for range loads.Tasks {
		loads.Loads = append(loads.Loads, 1+r.Int64N(9))
	}
	for _, c := range []struct {
		name, tree         string
		g                  Graph
		cut, divided, cost int64
	}{
		{"grid", "node:3 core:3", gridGraph(31, 37), 32, 207, 207},
		{"near", "node:2 socket:3 core:4", near(400, 1200, 25), 482, 6296, 6296},
		{"loads", "node:3 socket:2 core:3", loads, 351, 5100, 5100},
		{"random", "node:4 core:5", wide, 1718, 7820, 7820},
		{"random", "core:70", wide, 1678, 7128, 7128},
		{"in a row", "core:7", inRow(0, 48), 52, 293, 274},
		{"in a row", "node:3 core:3", inRow(2, 120), 70, 779, 745},
		{"in a row", "node:2 core:2+1", inRow(2, 150), 49, 179, 179},
		{"in a row", "core:2", inRow(7, 900), 62, 62, 62},
	} {
		tree, l := parseTree(t, c.tree), c.g.links()
		b := newBalance(l.load, tree.Ranks())
		d := &descent{tree: tree, links: l, balance: b}
		low, high := b.bounds(b.total, tree.Ranks()/2, tree.Ranks()-tree.Ranks()/2)
		h := halves{links: l, side: new(bisector).bisect(l, low, high), low: low, high: high}
		if h.excess(h.loadOfSide0()) > 0 {
			t.Errorf("%s on %s: halves are out of bounds", c.name, tree)
		}
		cut, divided, cost := h.cut(), costOf(tree, l, d.divided()).Total, placeOn(t, tree, c.g).Cost.Total
		if cut > c.cut || divided > c.divided || cost > c.cost {
			t.Errorf("%s on %s: cut %d, divided %d, cost %d: want at most %d, %d, %d", c.name, tree, cut, divided, cost, c.cut, c.divided, c.cost)
		}
	}
}
