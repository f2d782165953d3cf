package stencil_test

import (
	"context"
	"fmt"
	"log"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/stencil"
)

// Heat flows along a bar whose left end is kept hot.
func Example() {
	ctx := context.Background()
	rt, err := orwl.New(orwl.Options{})
	if err != nil {
		log.Fatal(err)
	}
	g := stencil.New(rt, stencil.Options{Size: stencil.Size{8}, Blocks: stencil.Size{2}})
	u := stencil.NewField(g, "u", stencil.FieldOptions[float64]{
		Halo: stencil.Around(1),
		Initial: func(at []int) float64 {
			if at[0] < 0 {
				return 100
			}
			return 0
		},
	})
	err = g.Sweep(50, func(b *stencil.Block) {
		for r := range b.Rows() {
			left, old, right, new := u.Old(r, -1), u.Old(r), u.Old(r, 1), u.New(r)
			for i := range new {
				new[i] = old[i] + 0.25*(left[i]-2*old[i]+right[i])
			}
		}
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := rt.Run(ctx); err != nil {
		log.Fatal(err)
	}
	values, err := u.Values(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(g)
	fmt.Printf("%.1f\n", values)
	fmt.Println("as the sequential sweep:", g.Verify(ctx) == nil)
	// Output:
	// 8 cells in 2 blocks of 4
	// [84.2 69.0 54.8 42.1 31.0 21.6 13.5 6.5]
	// as the sequential sweep: true
}
