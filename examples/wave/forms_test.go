package main

import (
	"testing"

	"github.com/orwl/go-orwl/examples/internal/forms"
	"github.com/orwl/go-orwl/internal/rows"
)

var kernel = forms.Kernel[float64]{
	Name: "wave", Side: 2000, Sweeps: 20, Waves: true, Away: [][]int{{0, 0}, {-1, 0}, {1, 0}, {0, -1}, {0, 1}},
	Row: func(next []float64, near [][]float64) {
		rows.Weights[float64]{-1, 2 - 4*speed, speed, speed, speed, speed}.Sum(next, next, near[0], near[1], near[2], near[3], near[4])
	},
	Block: update,
}

func TestForms(t *testing.T) { kernel.Test(t) }

func BenchmarkForms(b *testing.B) { kernel.Benchmark(b) }
