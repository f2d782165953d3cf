package main

import (
	"testing"

	"github.com/orwl/go-orwl/examples/internal/forms"
	"github.com/orwl/go-orwl/orwl/stencil"
)

var kernel = forms.Kernel[float64]{
	Name: "gaussseidel", Side: 2000, Sweeps: 20, Options: stencil.Options{Update: stencil.InPlace}, Away: [][]int{{-1, 0}, {0, -1}, {1, 0}, {0, 1}},
	Row: func(cells []float64, near [][]float64) { relax(cells, near[0], near[1], near[2], near[3]) },
}

func TestForms(t *testing.T) { kernel.Test(t) }

func BenchmarkForms(b *testing.B) { kernel.Benchmark(b) }
