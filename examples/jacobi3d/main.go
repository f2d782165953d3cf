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
	"github.com/orwl/go-orwl/orwl/stencil/rows"
	"github.com/orwl/go-orwl/orwl/stencil/show"
)

var (
	n      = flag.Int("n", 96, "cells on a side")
	sweeps = flag.Int("sweeps", 100, "how often the cube is swept")
	deep   = flag.Int("deep", 1, "sweeps between two exchanges of the blocks")
	look   = show.Flags(flag.CommandLine) // -plot, -progress
)

func main() {
	flag.Parse()
	if err := orwl.Run(context.Background(), orwl.Options{}, cube); err != nil {
		log.Fatal(err)
	}
}

var mean = rows.Weights{1. / 6, 1. / 6, 1. / 6, 1. / 6, 1. / 6, 1. / 6}

// update computes the cells of a block.
func update(u *stencil.Field[float64], b *stencil.Block) {
	mean.SumBox(u.NewBox(b), u.Box(b, -1, 0, 0), u.Box(b, 1, 0, 0), u.Box(b, 0, -1, 0), u.Box(b, 0, 1, 0), u.Box(b, 0, 0, -1), u.Box(b, 0, 0, 1))
}

func cube(ctx context.Context, rt *orwl.Runtime) error {
	g := stencil.New(rt, stencil.Options{Size: stencil.Size{*n, *n, *n}, Sweeps: *deep})
	u := stencil.NewField(g, "u", stencil.FieldOptions[float64]{Halo: stencil.Around(1), Initial: func(at []int) float64 {
		if at[0] < 0 {
			return 1 // the first plane is hot, all else is cold
		}
		return 0
	}})
	err := g.Sweep(*sweeps, func(b *stencil.Block) { update(u, b) })
	if err != nil {
		return err
	}
	begin := time.Now()
	if err := look.Run(ctx, show.Field(u)); err != nil {
		return err
	}
	fmt.Printf("%v: %.2f s\n", g, time.Since(begin).Seconds())
	return g.Verify(ctx)
}
