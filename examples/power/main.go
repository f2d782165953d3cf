// Power iteration: does a population on a plate survive? It grows on fertile ground, spreads to all sides, and dies beyond
// the edges. After many years its shape stays the same, and only its number changes: by the greatest eigenvalue of what a
// year does.
//
//	go run ./examples/power
//	go run ./examples/power -growth 0.02 -fence
package main

import (
	"context"
	"flag"
	"fmt"
	"math"

	_ "github.com/orwl/go-orwl/orwl/nodes" // for several nodes
	"github.com/orwl/go-orwl/orwl/stencil"
	"github.com/orwl/go-orwl/orwl/stencil/show"
)

var (
	side   = flag.Int("side", 100, "cells on a side")
	growth = flag.Float64("growth", 0.1, "how much the population grows in a year on the best ground")
	little = flag.Float64("little", 1e-6, "end when the shape changes by no more")
	fence  = flag.Bool("fence", false, "a fence around the plate: nothing leaves")
)

func main() { show.Main(plate) }

func plate(ctx context.Context, r *show.Run) error {
	g := r.Grid(stencil.Options{Size: stencil.Size{*side, *side}, Mirrored: []bool{*fence, *fence}})
	u := years(g, func(sweep int, factor float64) {
		if (sweep+1)%100 == 0 {
			fmt.Printf("year %d: times %.9f\n", sweep+1, factor)
		}
	})
	return r.Sweep(ctx, 100_000, nil, show.Field(u))
}

// years declares the stages of a year. tell gets the number by which the population changes.
func years(g *stencil.Grid, tell func(sweep int, factor float64)) *stencil.Field[float64] {
	u := stencil.NewField(g, "u", stencil.FieldOptions[float64]{Halo: stencil.Around(1), Initial: start})
	next := stencil.NewField(g, "next", stencil.FieldOptions[float64]{})
	ground := stencil.NewField(g, "ground", stencil.FieldOptions[float64]{Initial: fertile}) // no stage writes it
	product := stencil.NewSum(g, "u·next", stencil.ReductionOptions{Result: tell})
	square := stencil.NewSum(g, "next·next", stencil.ReductionOptions{})
	change := stencil.NewSum(g, "change", stencil.ReductionOptions{
		Every: 10,
		Lag:   10,
		Until: func(_ int, v float64) bool { return v <= *little**little },
	})
	g.Stage(func(b *stencil.Block) { // a quarter of each tenth moves to each side
		for r := range b.Rows() {
			cells, u0, ground := next.New(r), u.Old(r), ground.Old(r)
			north, south, west, east := u.Old(r, -1, 0), u.Old(r, 1, 0), u.Old(r, 0, -1), u.Old(r, 0, 1)
			for i := range cells {
				cells[i] = float64((0.9+ground[i])*u0[i]) + float64(0.025*(north[i]+south[i]+west[i]+east[i]))
			}
			product.Dot(b, u0, cells)
			square.Dot(b, cells, cells)
		}
	}, next, product, square)
	g.Stage(func(b *stencil.Block) { // the length is 1 again
		length := math.Sqrt(square.Now(b))
		for r := range b.Rows() {
			u, cells := u.New(r), next.New(r)
			for i := range u {
				before := u[i]
				u[i] = cells[i] / length
				cells[i] = u[i] - before
			}
			change.Dot(b, cells, cells)
		}
	}, u, next, change).Reads(square)
	return u
}

// start is a population of length 1 that is the same in all cells.
func start(at []int) float64 {
	if min(at[0], at[1]) < 0 || max(at[0], at[1]) >= *side {
		return 0
	}
	return 1 / float64(*side)
}

// fertile is the growth in a cell: most near the middle.
func fertile(at []int) float64 {
	y, x := float64(at[0]-*side/2), float64(at[1]-*side/2)
	return *growth * math.Exp(-8*(x*x+y*y)/float64(*side**side))
}
