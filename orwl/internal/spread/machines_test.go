package spread

import (
	"fmt"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/net/topology"
)

func TestMachinesOf(t *testing.T) {
	for _, c := range []struct {
		names string // of each node's machine; - if it shares no memory
		want  string
		mixed bool
		tree  string
	}{
		{"a a", "0 1", false, "node:2"},
		{"a b", "0, 1", false, "node:2"},
		{"- -", "0, 1", false, "node:2"},
		{"a b a b", "0 2, 1 3", true, "group:2 node:2"},
		{"a - a - b", "0 2, 1, 3, 4", true, "group:4 node:2+1*3"},
		{"a b b b a", "0 4, 1 2 3", true, "group:2 node:2+3"},
	} {
		var names []string
		for _, name := range strings.Fields(c.names) {
			names = append(names, strings.Trim(name, "-"))
		}
		m := MachinesOf(names)
		if m.String() != c.want || m.Mixed() != c.mixed {
			t.Errorf("%s: %v, mixed %t, want %s, %t", c.names, m, m.Mixed(), c.want, c.mixed)
		}
		tree, err := topology.Parse(m.orOne(len(names)).level(nil))
		if err != nil {
			t.Errorf("%s: %v", c.names, err)
			continue
		}
		if !c.mixed && tree.Levels() != 1 || c.mixed && tree.String() != c.tree {
			t.Errorf("%s: the tree is %v, want %s", c.names, tree, c.tree)
		}
	}
}

// A grid is halved by machines first, and each half by the nodes of one. What On and Home put
// on a node draws its part of the grid to the machine of that node.
func TestMachinesAreALevel(t *testing.T) {
	rings.Computes(t)
	const side = 8
	m := Machines{{0, 3}, {1, 2}}
	of := m.byNode(4)
	for seed := range uint64(4) {
		for node := range 4 {
			for how, put := range map[string]func(p *Program, order []cell){
				"On": func(p *Program, order []cell) {
					for i, c := range order {
						if c.row+c.col < 2 {
							p.On[i] = node
						}
					}
				},
				"Home": func(p *Program, _ []cell) { p.Homes["0,0"] = node },
			} {
				order := cells(side, seed)
				p := grid(4, order)
				p.Machines = m
				put(p, order)
				at := divide(t, p, order)
				if at[cell{0, 0}] != node {
					t.Errorf("%s, order %d: the corner is on node %d, want %d", how, seed, at[cell{0, 0}], node)
				}
				count := make([]int, 4)
				machine := make(map[cell]int)
				for c, node := range at {
					machine[c] = of[node]
					count[node]++
				}
				if cut, between := cutOf(at), cutOf(machine); cut > 2*side*3/2 || between > side*5/4 {
					t.Errorf("%s on %d, order %d: nodes cut %d, machines %d, want at most %d and %d", how, node, seed, cut, between, 2*side*3/2, side*5/4)
				}
				if want := fmt.Sprint([]int{16, 16, 16, 16}); fmt.Sprint(count) != want {
					t.Errorf("%s on %d, order %d: the nodes have %d tasks", how, node, seed, count)
				}
			}
		}
	}
}

// Machines with different numbers of nodes keep their sizes, whatever Home draws to them.
func TestMachinesOfDifferentSizes(t *testing.T) {
	rings.Computes(t)
	const side = 6
	for _, corner := range []cell{{0, 0}, {0, side - 1}, {side - 1, 0}, {side - 1, side - 1}} {
		for home := range 3 {
			order := cells(side, 7)
			p := grid(3, order)
			p.Machines = Machines{{1}, {0, 2}}
			p.Homes[corner.String()] = home
			count := make([]int, 3)
			for _, node := range divide(t, p, order) {
				count[node]++
			}
			if fmt.Sprint(count) != "[12 12 12]" {
				t.Errorf("Home of %v on node %d: the nodes have %d tasks", corner, home, count)
			}
		}
	}
}
