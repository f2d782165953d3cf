// Heat flows along a bar whose left end is kept hot.
//
//	go run ./examples/heat -plot heat.gif
package main

import (
	"context"

	_ "github.com/orwl/go-orwl/orwl/nodes" // for several nodes
	"github.com/orwl/go-orwl/orwl/stencil"
	"github.com/orwl/go-orwl/orwl/stencil/show"
)

// flow is how much of a new cell comes from the left one, from itself, and from the right one.
var flow = []stencil.Weight{{At: []int{-1}, Times: 0.25}, {Times: 0.5}, {At: []int{1}, Times: 0.25}}

// hot is the value of a cell at first: 100 to the left of the bar, and 0 elsewhere.
func hot(at []int) float64 { return 100 * float64(max(0, -at[0])) }

func main() {
	show.Main(func(ctx context.Context, r *show.Run) error {
		g := r.Grid(stencil.Options{Size: stencil.Size{60}})
		u := stencil.NewField(g, "heat", stencil.FieldOptions[float64]{Halo: stencil.Around(1), Initial: hot})
		return r.Sweep(ctx, 1000, func(b *stencil.Block) { stencil.Apply(b, u, u, 0, flow) }, show.Field(u))
	})
}
