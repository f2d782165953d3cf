// A cube whose faces are kept at fixed values comes to rest. Each sweep replaces each cell by the
// mean of its six neighbours.
//
//	go run ./examples/jacobi3d -n 192 -sweeps 200 -deep 4 -progress -plot middle.png
package main

import (
	"context"
	"flag"

	_ "github.com/orwl/go-orwl/orwl/nodes" // for several nodes
	"github.com/orwl/go-orwl/orwl/stencil"
	"github.com/orwl/go-orwl/orwl/stencil/show"
)

var (
	n    = flag.Int("n", 96, "cells on a side")
	deep = flag.Int("deep", 1, "sweeps between two exchanges of the blocks")
)

func main() { show.Main(cube) }

// mean is the mean of the six neighbours.
var mean = []stencil.Weight{
	{At: []int{-1, 0, 0}, Times: 1. / 6}, {At: []int{1, 0, 0}, Times: 1. / 6}, {At: []int{0, -1, 0}, Times: 1. / 6},
	{At: []int{0, 1, 0}, Times: 1. / 6}, {At: []int{0, 0, -1}, Times: 1. / 6}, {At: []int{0, 0, 1}, Times: 1. / 6},
}

// hot is the value of a cell at first: the plane before the first one is hot, and all else is cold.
func hot(at []int) float64 { return float64(max(0, -at[0])) }

func cube(ctx context.Context, r *show.Run) error {
	g := r.Grid(stencil.Options{Size: stencil.Size{*n, *n, *n}, Sweeps: *deep})
	u := stencil.NewField(g, "u", stencil.FieldOptions[float64]{Halo: stencil.Around(1), Initial: hot})
	return r.Sweep(ctx, 100, func(b *stencil.Block) { stencil.Apply(b, u, u, 0, mean) }, show.Field(u))
}
