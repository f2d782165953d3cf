package main

import (
	"testing"

	"github.com/orwl/go-orwl/examples/internal/same"
	"github.com/orwl/go-orwl/orwl/exact"
	"github.com/orwl/go-orwl/orwl/stencil"
)

// The result has the same bits on any blocks and nodes, and solves the equation in as few cycles on a larger plate.
func TestCycle(t *testing.T) {
	defer func(n int) { *side = n }(*side)
	for _, n := range []int{63, 127} {
		*side = n
		u, cycles := same.Bits(t, stencil.Size{n, n}, 100, cycle)
		if cycles < 5 || cycles > 12 {
			t.Errorf("%d cells on a side: %d cycles", n, cycles)
		}
		at := func(row, column int) float64 {
			if min(row, column) < 0 || max(row, column) >= n {
				return 0
			}
			return u[row*n+column]
		}
		var left exact.Sum // of the squares of 1 - A u
		for i := range n * n {
			y, x := i/n, i%n
			r := 1 - (4*at(y, x) - at(y-1, x) - at(y+1, x) - at(y, x-1) - at(y, x+1))
			left.Add(r * r)
		}
		if got := left.Value(); got > 1.01*small*small*float64(n*n) {
			t.Errorf("%d cells on a side: the residual is %g", n, got)
		}
	}
}
