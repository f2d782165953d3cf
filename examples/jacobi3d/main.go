package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"time"

	"github.com/orwl/go-orwl/orwl"
	_ "github.com/orwl/go-orwl/orwl/nodes" // for several nodes
	"github.com/orwl/go-orwl/orwl/stencil"
	"github.com/orwl/go-orwl/orwl/stencil/show"
)

var (
	n      = flag.Int("n", 96, "cells on a side")
	sweeps = flag.Int("sweeps", 100, "how often the cube is swept")
	deep   = flag.Int("deep", 1, "sweeps between two exchanges of the blocks")
	look   = show.Flags(flag.CommandLine) // -live, -plot, -progress
)

func main() {
	flag.Parse()
	if err := orwl.Run(context.Background(), orwl.Options{}, cube); err != nil {
		log.Fatal(err)
	}
}

// mean is the mean of the six neighbours.
var mean = []stencil.Weight{
	{At: []int{-1, 0, 0}, Times: 1. / 6}, {At: []int{1, 0, 0}, Times: 1. / 6}, {At: []int{0, -1, 0}, Times: 1. / 6},
	{At: []int{0, 1, 0}, Times: 1. / 6}, {At: []int{0, 0, -1}, Times: 1. / 6}, {At: []int{0, 0, 1}, Times: 1. / 6},
}

func cube(ctx context.Context, rt *orwl.Runtime) error {
	g := stencil.New(rt, stencil.Options{Size: stencil.Size{*n, *n, *n}, Sweeps: *deep})
	u := stencil.NewField(g, "u", stencil.FieldOptions[float64]{Halo: stencil.Around(1), Initial: func(at []int) float64 {
		if at[0] < 0 {
			return 1 // the first plane is hot, all else is cold
		}
		return 0
	}})
	if err := g.Sweep(*sweeps, func(b *stencil.Block) { stencil.Apply(b, u, u, 0, mean) }); err != nil {
		return err
	}
	begin := time.Now()
	if err := look.Run(ctx, show.Field(u)); err != nil {
		return err
	}
	if rt.Node() == 0 {
		fmt.Printf("%v: %.2f s\n", g, time.Since(begin).Seconds())
	}
	return g.Verify(ctx)
}
