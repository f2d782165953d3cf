package main

import (
	"math"
	"testing"

	"github.com/orwl/go-orwl/examples/internal/same"
	"github.com/orwl/go-orwl/orwl/stencil"
)

// The result has the same bits on any blocks and nodes, and solves the equation.
func TestGradients(t *testing.T) {
	defer func(n int) { *side = n }(*side)
	*side = 23
	n := *side
	x, swept := same.Bits(t, stencil.Size{n, n}, 1000, gradients)
	if swept < 20 || swept > 100 {
		t.Errorf("%d sweeps", swept)
	}
	at := func(row, column int) float64 {
		if min(row, column) < 0 || max(row, column) >= n {
			return 0
		}
		return x[row*n+column]
	}
	for i := range n * n {
		y, x := i/n, i%n
		if r := 1 - (4*at(y, x) - at(y-1, x) - at(y+1, x) - at(y, x-1) - at(y, x+1)); math.Abs(r) > 1e-5 {
			t.Fatalf("row %d, column %d: the residual is %g", y, x, r)
		}
	}
}
