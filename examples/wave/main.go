package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math"

	"github.com/orwl/go-orwl/orwl"
	_ "github.com/orwl/go-orwl/orwl/nodes" // for several nodes
	"github.com/orwl/go-orwl/orwl/stencil"
	"github.com/orwl/go-orwl/orwl/stencil/show"
)

var (
	side   = flag.Int("side", 200, "cells on a side")
	sweeps = flag.Int("sweeps", 500, "how often the membrane is swept")
	look   = show.Flags(flag.CommandLine) // -live, -plot, -progress
)

const speed = 0.25 // cells per sweep, squared

func main() {
	flag.Parse()
	if err := orwl.Run(context.Background(), orwl.Options{}, wave); err != nil {
		log.Fatal(err)
	}
}

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

func wave(ctx context.Context, rt *orwl.Runtime) error {
	g := stencil.New(rt, stencil.Options{Size: stencil.Size{*side, *side}, Sweeps: 2})
	u := stencil.NewField(g, "height", stencil.FieldOptions[float64]{Halo: stencil.Around(1), Initial: drop, Previous: drop})
	err := g.Sweep(*sweeps, func(b *stencil.Block) { update(u, b) })
	if err != nil {
		return err
	}
	if err := look.Run(ctx, show.Field(u).Between(-0.2, 0.2)); err != nil {
		return err
	}
	fmt.Printf("%v, %d sweeps\n", g, *sweeps)
	return g.Verify(ctx)
}
