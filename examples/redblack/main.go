// Red-black Gauss-Seidel on the plate of examples/gaussseidel, with over-relaxation. The cells of a
// chessboard have two colours, and each sweep has a stage for each. A cell has neighbours of the
// other colour only, so that all cells of a stage can be computed at the same time, and in place.
//
//	go run ./examples/redblack -side 200
package main

import (
	"context"
	"flag"
	"math"

	_ "github.com/orwl/go-orwl/orwl/nodes" // for several nodes
	"github.com/orwl/go-orwl/orwl/stencil"
	"github.com/orwl/go-orwl/orwl/stencil/show"
)

var (
	side   = flag.Int("side", 100, "cells on a side")
	little = flag.Float64("little", 1e-4, "end when no cell changes by more")
)

func main() { show.Main(solve) }

// hot is the value of a cell at first: the plate is warm beyond its west edge.
func hot(at []int) float64 {
	if at[1] < 0 {
		return math.Sin(math.Pi * float64(at[0]) / float64(*side-1))
	}
	return 0
}

// relax changes the cells of one colour in a row, from the first on, and returns the greatest change.
func relax(cells, north, south, west, east []float64, first int) (most float64) {
	omega := 2 / (1 + math.Sin(math.Pi/float64(*side+1))) // the best for a square
	for i := first; i < len(cells); i += 2 {
		change := float64(omega * ((north[i]+south[i]+west[i]+east[i])/4 - cells[i])) // rounded, on all processors
		cells[i] += change
		most = max(most, math.Abs(change))
	}
	return most
}

// plate declares the stages of a sweep.
func plate(g *stencil.Grid) *stencil.Field[float64] {
	u := stencil.NewField(g, "u", stencil.FieldOptions[float64]{Halo: stencil.Around(1), Initial: hot})
	change := stencil.NewMax(g, "change", stencil.ReductionOptions{
		Every: 16,
		Lag:   16,
		Until: func(_ int, most float64) bool { return most <= *little },
	})
	for colour := range 2 {
		g.Stage(func(b *stencil.Block) {
			most := 0.0
			for r := range b.Rows() {
				first := (r.At(0) + r.At(1) + colour) & 1
				most = max(most, relax(u.New(r), u.Old(r, -1, 0), u.Old(r, 1, 0), u.Old(r, 0, -1), u.Old(r, 0, 1), first))
			}
			change.Add(b, most)
		}, u, change)
	}
	return u
}

func solve(ctx context.Context, r *show.Run) error {
	u := plate(r.Grid(stencil.Options{Size: stencil.Size{*side, *side}}))
	return r.Sweep(ctx, 10_000, nil, show.Field(u))
}
