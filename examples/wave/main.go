// A wave on a membrane whose edge is fixed. It needs two generations: New holds the one before
// Old until the kernel writes it.
//
//	go run ./examples/wave -side 400 -sweeps 5000 -plot wave.gif
package main

import (
	"context"
	"flag"
	"math"

	_ "github.com/orwl/go-orwl/orwl/nodes" // for several nodes
	"github.com/orwl/go-orwl/orwl/stencil"
	"github.com/orwl/go-orwl/orwl/stencil/show"
)

var side = flag.Int("side", 200, "cells on a side")

const speed = 0.25 // cells per sweep, squared

func main() { show.Main(wave) }

// drop is the height at first, and also in the sweep before: nothing moves.
func drop(at []int) float64 {
	y, x := float64(at[0]-*side/2), float64(at[1]-*side/3)
	return math.Exp(-(x*x + y*y) / float64(*side))
}

// move is for a cell one sweep ago, and its four neighbours then.
var move = []stencil.Weight{
	{Times: 2 - 4*speed}, {At: []int{-1, 0}, Times: speed}, {At: []int{1, 0}, Times: speed},
	{At: []int{0, -1}, Times: speed}, {At: []int{0, 1}, Times: speed},
}

// update computes the cells of a block. A new cell is a term, too: it holds the height two sweeps ago.
func update(u *stencil.Field[float64], b *stencil.Block) { stencil.Apply(b, u, u, -1, move) }

func wave(ctx context.Context, r *show.Run) error {
	g := r.Grid(stencil.Options{Size: stencil.Size{*side, *side}, Sweeps: 2})
	u := stencil.NewField(g, "height", stencil.FieldOptions[float64]{Halo: stencil.Around(1), Initial: drop, Previous: drop})
	return r.Sweep(ctx, 500, func(b *stencil.Block) { update(u, b) }, show.Field(u).Between(-0.2, 0.2))
}
