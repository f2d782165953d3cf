package topology

import (
	"math"
	"slices"
	"testing"
)

func TestCounters(t *testing.T) {
	for _, test := range []struct {
		ranks, tdc int
		want       []Rank
	}{
		{1, 1, []Rank{0}},
		{4, 1, []Rank{0, 1, 2, 3}},
		{8, 4, []Rank{0, 4}},
		{9, 4, []Rank{0, 4, 8}},
		{7, 4, []Rank{0, 4}},
		{7, 7, []Rank{0}},
		{7, math.MaxInt, []Rank{0}}, // must not overflow
	} {
		tree := Flat(test.ranks)
		if got := slices.Collect(tree.Counters(test.tdc)); !slices.Equal(got, test.want) {
			t.Errorf("%d ranks, tdc %d: counters on %v, want %v", test.ranks, test.tdc, got, test.want)
		}
		// The counter of a rank is the last one up to it.
		for p := range Rank(test.ranks) {
			want := Rank(0)
			for _, c := range test.want {
				if c <= p {
					want = c
				}
			}
			if got := tree.Counter(p, test.tdc); got != want {
				t.Errorf("%d ranks, tdc %d: c(%d) = %d, want %d", test.ranks, test.tdc, p, got, want)
			}
		}
	}
}

func TestCountersStops(t *testing.T) {
	for p := range Flat(100).Counters(10) {
		if p > 20 {
			t.Fatalf("rank %d came after the break", p)
		}
		if p == 20 {
			break
		}
	}
}

// §3.2.1: with x ranks on every node, T_DC = kx puts one counter on every k-th
// node.
func TestCounterOnEverySecondNode(t *testing.T) {
	tree := mustParse(t, "node:6 core:4")
	var nodes []int
	for p := range tree.Counters(2 * 4) {
		nodes = append(nodes, tree.Element(p, 2))
	}
	if !slices.Equal(nodes, []int{0, 2, 4}) {
		t.Errorf("counters on nodes %v, want every second", nodes)
	}
}
