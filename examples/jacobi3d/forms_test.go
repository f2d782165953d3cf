package main

import (
	"fmt"
	"testing"

	"github.com/orwl/go-orwl/examples/internal/forms"
	"github.com/orwl/go-orwl/internal/rows"
	"github.com/orwl/go-orwl/orwl/stencil"
)

var kernel = forms.Kernel[float64]{
	Name: "jacobi3d", Side: 192, Sweeps: 20, Away: [][]int{{-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}, {0, 0, -1}, {0, 0, 1}},
	Row: func(next []float64, near [][]float64) {
		rows.Weights[float64]{1. / 6, 1. / 6, 1. / 6, 1. / 6, 1. / 6, 1. / 6}.Sum(next, near...)
	},
	Block: func(u *stencil.Field[float64], b *stencil.Block) { stencil.Apply(b, u, u, 0, mean) },
}

func TestForms(t *testing.T) { kernel.Test(t) }

// A pass of one sweep is the form of the others. Four sweeps in a pass read the cube a fourth as often.
func BenchmarkForms(b *testing.B) {
	for _, deep := range []int{1, 4} {
		k := kernel
		k.Options.Sweeps = deep
		b.Run(fmt.Sprintf("sweeps=%d", deep), k.Benchmark)
	}
}
