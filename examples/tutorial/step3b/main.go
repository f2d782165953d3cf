// Step 3 of the tutorial again: package stencil cuts the plate, and fills the halos.
//
//	go run ./examples/tutorial/step3b
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/orwl/go-orwl/examples/tutorial/draw"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/stencil"
)

const size, sweeps = 48, 1000

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	rt, err := orwl.New(orwl.Options{})
	if err != nil {
		return err
	}
	g := stencil.New(rt, stencil.Options{Size: stencil.Size{size, size}, Blocks: stencil.Size{3, 3}})
	heat := stencil.NewField(g, "heat", stencil.FieldOptions[float64]{
		Halo: stencil.Around(1),
		Initial: func(at []int) float64 {
			if at[0] < 0 {
				return 100 // the upper rim
			}
			return 0
		},
	})
	err = g.Sweep(sweeps, func(b *stencil.Block) {
		for r := range b.Rows() {
			old, next := heat.Old(r), heat.New(r)
			above, below := heat.Old(r, -1, 0), heat.Old(r, 1, 0)
			left, right := heat.Old(r, 0, -1), heat.Old(r, 0, 1)
			for i := range next {
				around := above[i] + below[i] + left[i] + right[i]
				next[i] = old[i] + 0.2*(around-4*old[i])
			}
		}
	})
	if err != nil {
		return err
	}
	if err := rt.Run(ctx); err != nil {
		return err
	}
	plate, err := heat.Values(ctx)
	if err != nil {
		return err
	}
	draw.Plate(size, func(row, column int) float64 { return plate[row*size+column] })
	if err := g.Verify(ctx); err != nil {
		return err
	}
	fmt.Println("the same as one goroutine computes, bit for bit")
	return nil
}
