package main

import (
	"math"
	"testing"

	"github.com/orwl/go-orwl/examples/internal/same"
	"github.com/orwl/go-orwl/orwl/stencil"
)

// The result has the same bits on any blocks and nodes, also as in place over the whole plate, one colour after the other. At
// the end each cell is nearly the mean of its neighbours.
func TestPlate(t *testing.T) {
	defer func(n int) { *side = n }(*side)
	*side = 40
	n := *side
	got, swept := same.Bits(t, stencil.Size{n, n}, 10_000, plate)
	if swept%16 > 0 || swept < 64 || swept == 10_000 {
		t.Errorf("%d sweeps", swept)
	}
	row := n + 2
	all := make([]float64, row*row)
	for i := range all {
		all[i] = hot([]int{i/row - 1, i%row - 1})
	}
	for stage := range 2 * swept {
		for y := range n {
			at := (y+1)*row + 1
			cells := func(by int) []float64 { return all[at+by : at+by+n] }
			relax(cells(0), cells(-row), cells(row), cells(-1), cells(1), (y+stage)&1)
		}
	}
	for i, v := range got {
		at := (i/n+1)*row + i%n + 1
		if want := all[at]; math.Float64bits(v) != math.Float64bits(want) {
			t.Fatalf("row %d, column %d is %v, want %v", i/n, i%n, v, want)
		}
		if mean := (all[at-row] + all[at+row] + all[at-1] + all[at+1]) / 4; math.Abs(mean-v) > *little {
			t.Fatalf("row %d, column %d is %v, and the mean of its neighbours %v", i/n, i%n, v, mean)
		}
	}
	if got[n/2*n] < 0.5 {
		t.Errorf("the warm edge is %v", got[n/2*n])
	}
}
