package main

import (
	"context"
	"flag"
	"fmt"
	"log"

	"github.com/orwl/go-orwl/orwl"
	_ "github.com/orwl/go-orwl/orwl/nodes" // for several nodes
	"github.com/orwl/go-orwl/orwl/stencil"
	"github.com/orwl/go-orwl/orwl/stencil/rows"
	"github.com/orwl/go-orwl/orwl/stencil/show"
)

var look = show.Flags(flag.CommandLine) // -plot, -progress

func main() {
	flag.Parse()
	if err := orwl.Run(context.Background(), orwl.Options{}, heat); err != nil {
		log.Fatal(err)
	}
}

// flow is how much of a new cell comes from the left one, from itself, and from the right one.
var flow = rows.Weights{0.25, 0.5, 0.25}

// update computes the cells of a block.
func update(u *stencil.Field[float64], b *stencil.Block) {
	flow.SumBox(u.NewBox(b), u.Box(b, -1), u.Box(b), u.Box(b, 1))
}

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
	err := g.Sweep(1000, func(b *stencil.Block) { update(u, b) })
	if err != nil {
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
