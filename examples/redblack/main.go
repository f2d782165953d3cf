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
	side   = flag.Int("side", 100, "cells on a side")
	sweeps = flag.Int("sweeps", 20_000, "how often the plate is swept at most")
	little = flag.Float64("little", 1e-4, "end when no cell changes by more")
	look   = show.Flags(flag.CommandLine) // -plot, -progress
)

func main() {
	flag.Parse()
	err := orwl.Run(context.Background(), orwl.Options{}, func(ctx context.Context, rt *orwl.Runtime) error {
		_, err := plate(ctx, rt)
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
}

// hot is the value of a cell at first: the plate is warm beyond its west edge.
func hot(at []int) float64 {
	if at[1] < 0 {
		return math.Sin(math.Pi * float64(at[0]) / float64(*side-1))
	}
	return 0
}

// relax changes the cells of one colour in a row, from the first on, and returns the greatest
// change.
func relax(cells, north, south, west, east []float64, first int) (most float64) {
	omega := 2 / (1 + math.Sin(math.Pi/float64(*side+1))) // the best for a square
	for i := first; i < len(cells); i += 2 {
		change := omega * ((north[i]+south[i]+west[i]+east[i])/4 - cells[i])
		cells[i] += change
		most = max(most, math.Abs(change))
	}
	return most
}

func plate(ctx context.Context, rt *orwl.Runtime) ([]float64, error) {
	// Both colours are swept between two exchanges.
	g := stencil.New(rt, stencil.Options{Size: stencil.Size{*side, *side}, Sweeps: 2})
	u := stencil.NewField(g, "u", stencil.FieldOptions[float64]{Halo: stencil.Around(1), Initial: hot})
	change := stencil.NewReduction(g, "change", stencil.ReductionOptions[float64]{
		Combine: math.Max,
		Until: func(sweep int, most float64) bool {
			if most > *little {
				return false
			}
			fmt.Printf("in sweep %d no cell changes by more than %g\n", sweep, most)
			return true
		},
	})
	err := g.Sweep(*sweeps, func(b *stencil.Block) {
		most := 0.0
		for r := range b.Rows() {
			cells := u.New(r)
			copy(cells, u.Old(r))
			first := (r.At(0) + r.At(1) + b.Sweep()) & 1
			most = max(most, relax(cells, u.Old(r, -1, 0), u.Old(r, 1, 0), u.Old(r, 0, -1), u.Old(r, 0, 1), first))
		}
		change.Put(b, most)
	})
	if err != nil {
		return nil, err
	}
	if err := look.Run(ctx, show.Field(u)); err != nil {
		return nil, err
	}
	fmt.Printf("%v, at most %d sweeps more than needed\n", g, change.Delay())
	if err := g.Verify(ctx); err != nil {
		return nil, err
	}
	return u.Values(ctx)
}
