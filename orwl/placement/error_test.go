package placement

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/net/topology"
)

// An error about a task or tree that cannot be placed names it and the remedy.
func TestPlaceRefuses(t *testing.T) {
	tree := topology.Flat(2)
	two := func(edges ...Edge) Graph { return Graph{Tasks: 2, Edges: edges} }
	for _, c := range []struct {
		tree *topology.Tree
		g    Graph
		o    Options
		want string
	}{
		{nil, two(), Options{}, "the tree is missing: take it from topology.Parse"},
		{&topology.Tree{}, two(), Options{}, "the tree is missing"},
		{tree, two(), Options{Tolerance: -0.1}, "Options.Tolerance is -0.1: give 0 to 1"},
		{tree, two(), Options{Tolerance: 1.5}, "Tolerance is 1.5"},
		{tree, two(), Options{Tolerance: math.NaN()}, "Tolerance is NaN"},
		{tree, Graph{}, Options{}, "Graph.Tasks is 0: give 1 to"},
		{tree, Graph{Tasks: MaxPlacedTasks + 1}, Options{}, "Graph.Tasks is 67108865"},
		{tree, two(Edge{0, 2, 1}), Options{}, "edge 0 (0-2) leads to no task: number tasks from 0 to 1"},
		{tree, two(Edge{-1, 0, 1}), Options{}, "edge 0 (-1-0) leads to no task"},
		{tree, two(Edge{0, 1, 1}, Edge{1, 1, 1}), Options{}, "edge 1 (1-1) joins a task with itself"},
		{tree, two(Edge{0, 1, -1}), Options{}, "edge 0 (0-1) has weight -1"},
		{tree, two(Edge{0, 1, 1 << 60}, Edge{0, 1, 1 << 61}), Options{}, "edge 1 (0-1) makes the sum of all weights too large"},
		{tree, Graph{Tasks: 2, Names: []string{"a"}}, Options{}, "has 1 names for 2 tasks"},
		{tree, Graph{Tasks: 2, Names: []string{"a", "a"}}, Options{}, `tasks 0 and 1 are both called "a"`},
		{tree, Graph{Tasks: 2, Loads: []int64{1}}, Options{}, "has 1 loads for 2 tasks"},
		{tree, Graph{Tasks: 2, Loads: []int64{1, 0}, Names: []string{"a", "b"}}, Options{}, "task b has load 0"},
		{tree, Graph{Tasks: 2, Loads: []int64{1, math.MaxInt64 / 8}}, Options{}, "task 1 makes the sum of all loads too large"},
	} {
		_, err := Place(c.tree, c.g, c.o)
		var typed *Error
		if !errors.As(err, &typed) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: want %q", err, c.want)
		}
	}
}

// The largest sums that are taken do not overflow.
func TestLargestSums(t *testing.T) {
	tree := parseTree(t, "node:2 core:2")
	g := Graph{Tasks: 5, Edges: []Edge{{0, 4, math.MaxInt64/8 - 2}, {1, 3, 1}, {2, 3, 1}},
		Loads: []int64{math.MaxInt64 / 64, math.MaxInt64 / 80, 1, 1, math.MaxInt64 / 80}}
	p := placeOn(t, tree, g)
	if p.Cost.Total < 0 || p.Cost.Total > p.InOrder.Total || p.Cost.weight() != math.MaxInt64/8 {
		t.Errorf("cost %+v, blocks in order %+v", p.Cost, p.InOrder)
	}
}
