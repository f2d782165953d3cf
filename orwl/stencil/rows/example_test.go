package rows_test

import (
	"context"
	"fmt"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/stencil"
	"github.com/orwl/go-orwl/orwl/stencil/rows"
)

func ExampleWeights_SumBox() {
	ctx := context.Background()
	rt, err := orwl.New(orwl.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	g := stencil.New(rt, stencil.Options{Size: stencil.Size{40, 40}})
	u := stencil.NewField(g, "u", stencil.FieldOptions[float64]{
		Halo:    stencil.Around(1),
		Initial: func(at []int) float64 { return float64(at[0]) },
	})
	mean := rows.Weights{0.25, 0.25, 0.25, 0.25}
	if err := g.Sweep(10, func(b *stencil.Block) {
		mean.SumBox(u.NewBox(b), u.Box(b, -1, 0), u.Box(b, 1, 0), u.Box(b, 0, -1), u.Box(b, 0, 1))
	}); err != nil {
		fmt.Println(err)
		return
	}
	if err := rt.Run(ctx); err != nil {
		fmt.Println(err)
		return
	}
	values, err := u.Values(ctx)
	fmt.Println(values[7*40], err) // a slope is in balance
	// Output:
	// 7 <nil>
}
