package main

import (
	"math"
	"sync"
	"testing"

	"github.com/orwl/go-orwl/examples/internal/same"
	"github.com/orwl/go-orwl/orwl/stencil"
)

// The shape has the same bits on any blocks and nodes. A year multiplies each cell of it by the same number.
func TestShape(t *testing.T) {
	defer func(n int, g, l float64) { *side, *growth, *little = n, g, l }(*side, *growth, *little)
	*side, *growth, *little = 15, 0.5, 1e-6
	n := *side
	var mu sync.Mutex
	var factor float64
	u, swept := same.Bits(t, stencil.Size{n, n}, 3000, func(g *stencil.Grid) *stencil.Field[float64] {
		return years(g, func(_ int, v float64) {
			mu.Lock()
			defer mu.Unlock()
			factor = v
		})
	})
	if swept%10 > 0 || swept < 20 || swept >= 3000 {
		t.Errorf("%d sweeps", swept)
	}
	if factor < 1 {
		t.Errorf("the population changes by %v", factor)
	}
	at := func(row, column int) float64 {
		if min(row, column) < 0 || max(row, column) >= n {
			return 0
		}
		return u[row*n+column]
	}
	for i := range n * n {
		y, x := i/n, i%n
		year := (0.9+fertile([]int{y, x}))*at(y, x) + 0.025*(at(y-1, x)+at(y+1, x)+at(y, x-1)+at(y, x+1))
		if math.Abs(year-factor*at(y, x)) > 1e-5 {
			t.Fatalf("row %d, column %d: a year makes %v of %v, want times %v", y, x, year, at(y, x), factor)
		}
	}
}
