package main

import (
	"context"
	"flag"
	"fmt"
	"log"

	"github.com/orwl/go-orwl/orwl"
	_ "github.com/orwl/go-orwl/orwl/nodes" // for several nodes
	"github.com/orwl/go-orwl/orwl/stencil"
	"github.com/orwl/go-orwl/orwl/stencil/show"
)

var look = show.Flags(flag.CommandLine) // -live, -plot, -progress

func main() {
	flag.Parse()
	if err := orwl.Run(context.Background(), orwl.Options{}, heat); err != nil {
		log.Fatal(err)
	}
}

// flow is how much of a new cell comes from the left one, from itself, and from the right one.
var flow = []stencil.Weight{{At: []int{-1}, Times: 0.25}, {Times: 0.5}, {At: []int{1}, Times: 0.25}}

func heat(ctx context.Context, rt *orwl.Runtime) error {
	g := stencil.New(rt, stencil.Options{Size: stencil.Size{60}})
	u := stencil.NewField(g, "heat", stencil.FieldOptions[float64]{
		Halo: stencil.Around(1),
		Initial: func(at []int) float64 {
			if at[0] < 0 {
				return 100
			}
			return 0
		},
	})
	if err := g.Sweep(1000, func(b *stencil.Block) { stencil.Apply(b, u, u, 0, flow) }); err != nil {
		return err
	}
	if err := look.Run(ctx, show.Field(u)); err != nil {
		return err
	}
	values, err := u.Values(ctx)
	if err != nil || rt.Node() > 0 {
		return err
	}
	for i, v := range values {
		if i%10 == 0 {
			fmt.Printf("%3d %5.1f\n", i, v)
		}
	}
	return nil
}
