package main

import (
	"testing"

	"github.com/orwl/go-orwl/examples/internal/same"
	"github.com/orwl/go-orwl/orwl/exact"
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
	var left exact.Sum // of the squares of b - A x
	for i := range n * n {
		y, x := i/n, i%n
		r := 1 - (4*at(y, x) - at(y-1, x) - at(y+1, x) - at(y, x-1) - at(y, x+1))
		left.Add(r * r)
	}
	if got := left.Value(); got > 1e-18*float64(n*n) {
		t.Errorf("the residual is %g", got)
	}
}
