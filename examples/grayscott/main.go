// Gray-Scott: two substances spread and react, and spots grow and divide.
//
//	go run ./examples/grayscott -plot spots.gif
package main

import (
	"context"
	"flag"
	"fmt"

	_ "github.com/orwl/go-orwl/orwl/nodes" // for several nodes
	"github.com/orwl/go-orwl/orwl/stencil"
	"github.com/orwl/go-orwl/orwl/stencil/show"
)

var side = flag.Int("side", 160, "cells on a side")

// How fast the food and the eater spread, how fast food comes in, and how fast the eater dies.
const (
	foodSpreads, eaterSpreads = 0.16, 0.08
	feed, kill                = 0.03, 0.062
)

func main() { show.Main(react) }

// inside says whether a cell is in the square in the middle, where the eater begins.
func inside(at []int) bool {
	const half = 6
	y, x := at[0]-*side/2, at[1]-*side/2
	return -half <= y && y < half && -half <= x && x < half
}

// start is the value of a cell at first, in the square and around it.
func start(in, out float64) func(at []int) float64 {
	return func(at []int) float64 {
		if inside(at) {
			return in
		}
		return out
	}
}

// near are the rows around a row of a field: itself, and those up, down, left and right.
func near(f *stencil.Field[float64], r stencil.Row) (own, up, down, left, right []float64) {
	return f.Old(r, 0, 0), f.Old(r, -1, 0), f.Old(r, 1, 0), f.Old(r, 0, -1), f.Old(r, 0, 1)
}

func react(ctx context.Context, r *show.Run) error {
	g := r.Grid(stencil.Options{Size: stencil.Size{*side, *side}, Periodic: []bool{true, true}})
	food := stencil.NewField(g, "food", stencil.FieldOptions[float64]{Halo: stencil.Around(1), Initial: start(0.5, 1)})
	eater := stencil.NewField(g, "eater", stencil.FieldOptions[float64]{Halo: stencil.Around(1), Initial: start(0.25, 0)})
	err := r.Sweep(ctx, 5000, func(b *stencil.Block) {
		for r := range b.Rows() {
			u, uUp, uDown, uLeft, uRight := near(food, r)
			v, vUp, vDown, vLeft, vRight := near(eater, r)
			nextU, nextV := food.New(r), eater.New(r)
			for i := range nextU {
				eaten := u[i] * v[i] * v[i]
				nextU[i] = u[i] + foodSpreads*(uUp[i]+uDown[i]+uLeft[i]+uRight[i]-4*u[i]) - eaten + feed*(1-u[i])
				nextV[i] = v[i] + eaterSpreads*(vUp[i]+vDown[i]+vLeft[i]+vRight[i]-4*v[i]) + eaten - (feed+kill)*v[i]
			}
		}
	}, show.Field(eater).Between(0, 0.4))
	if err != nil || !r.Prints() {
		return err
	}
	cells, err := eater.Values(ctx)
	if err != nil {
		return err
	}
	full := 0
	for _, c := range cells {
		if c > 0.1 {
			full++
		}
	}
	fmt.Printf("the eater is in %d of %d cells\n", full, len(cells))
	return nil
}
