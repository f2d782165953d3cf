package main

import (
	"testing"

	"github.com/orwl/go-orwl/examples/internal/forms"
)

var kernel = forms.Kernel[float64]{
	Name: "jacobi3d", Side: 192, Sweeps: 20, Away: [][]int{{-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}, {0, 0, -1}, {0, 0, 1}},
	Row:   func(next []float64, near [][]float64) { mean.Sum(next, near...) },
	Block: update,
}

func TestForms(t *testing.T) { kernel.Test(t) }

func BenchmarkForms(b *testing.B) { kernel.Benchmark(b) }
