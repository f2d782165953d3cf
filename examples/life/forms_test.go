package main

import (
	"testing"

	"github.com/orwl/go-orwl/examples/internal/forms"
	"github.com/orwl/go-orwl/orwl/stencil"
)

var kernel = forms.Kernel[uint8]{
	Name: "life", Side: 2000, Sweeps: 20, Options: stencil.Options{Corners: true, Periodic: []bool{true, true}}, Away: forms.Square,
	Row: func(next []uint8, near [][]uint8) { generation(next, [9][]uint8(near)) },
}

func TestForms(t *testing.T) { kernel.Test(t) }

func BenchmarkForms(b *testing.B) { kernel.Benchmark(b) }
