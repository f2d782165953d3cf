package main

import (
	"testing"

	"github.com/orwl/go-orwl/examples/internal/forms"
	"github.com/orwl/go-orwl/internal/rows"
	"github.com/orwl/go-orwl/orwl/stencil"
)

var kernel = forms.Kernel[float64]{
	Name: "heat", Side: 1 << 20, Sweeps: 100, Away: [][]int{{-1}, {0}, {1}},
	Row:   func(next []float64, near [][]float64) { rows.Weights[float64]{0.25, 0.5, 0.25}.Sum(next, near...) },
	Block: func(u *stencil.Field[float64], b *stencil.Block) { stencil.Apply(b, u, u, 0, flow) },
}

func TestForms(t *testing.T) { kernel.Test(t) }

func BenchmarkForms(b *testing.B) { kernel.Benchmark(b) }
