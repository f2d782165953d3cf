// A wave on a membrane whose edge is fixed. It needs two generations: New holds the one before
// Old until the kernel writes it.
//
//	go run ./examples/wave
package main

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/stencil"
)

const (
	rows, cols = 24, 64
	speed      = 0.25 // cells per sweep, squared
)

func main() {
	if err := orwl.Run(context.Background(), orwl.Options{}, wave); err != nil {
		log.Fatal(err)
	}
}

func drop(at []int) float64 {
	y, x := float64(at[0]-rows/2), float64(at[1]-cols/3)
	return math.Exp(-(x*x + y*y) / 8)
}

func wave(ctx context.Context, rt *orwl.Runtime) error {
	g := stencil.New(rt, stencil.Options{Size: stencil.Size{rows, cols}, Sweeps: 2})
	u := stencil.NewField(g, "height", stencil.FieldOptions[float64]{Halo: stencil.Around(1), Initial: drop, Previous: drop})
	err := g.Sweep(40, func(b *stencil.Block) {
		for r := range b.Rows() {
			old, next := u.Old(r), u.New(r)
			north, south, west, east := u.Old(r, -1, 0), u.Old(r, 1, 0), u.Old(r, 0, -1), u.Old(r, 0, 1)
			for i := range next {
				next[i] = 2*old[i] - next[i] + speed*(north[i]+south[i]+west[i]+east[i]-4*old[i])
			}
		}
	})
	if err != nil {
		return err
	}
	if err := rt.Run(ctx); err != nil {
		return err
	}
	if err := g.Verify(ctx); err != nil {
		return err
	}
	values, err := u.Values(ctx)
	if err != nil || rt.Node() > 0 {
		return err
	}
	for row := range rows {
		line := make([]byte, cols)
		for col := range line {
			line[col] = "#+. -="[min(5, max(0, int(3.5-12*values[row*cols+col])))]
		}
		fmt.Println(string(line))
	}
	return nil
}
