package stencil_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/stencil"
)

// A run that ended is continued on other blocks. The same line of options serves both: the
// first run finds no checkpoint.
func ExampleCheckpoint() {
	dir, err := os.MkdirTemp("", "heat")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	heat := func(sweeps, blocks int) {
		rt, err := orwl.New(orwl.Options{})
		if err != nil {
			log.Fatal(err)
		}
		g := stencil.New(rt, stencil.Options{Size: stencil.Size{60}, Blocks: stencil.Size{blocks}, Checkpoint: stencil.Checkpoint{Dir: dir, Every: 10}, Resume: dir})
		u := stencil.NewField(g, "u", stencil.FieldOptions[float64]{Halo: stencil.Around(1), Initial: func(at []int) float64 { return float64(at[0] * at[0]) }})
		if err := g.Sweep(sweeps, func(b *stencil.Block) {
			for r := range b.Rows() {
				for i := range r.Len() {
					u.New(r)[i] = (u.Old(r, -1)[i] + u.Old(r)[i] + u.Old(r, 1)[i]) / 3
				}
			}
		}); err != nil {
			log.Fatal(err)
		}
		if err := rt.Run(context.Background()); err != nil {
			log.Fatal(err)
		}
		fmt.Println("from", g.Checkpoints().Resumed, "to", g.Checkpoints().Newest, "as the sequential sweep:", g.Verify(context.Background()) == nil)
	}
	heat(50, 3)
	heat(120, 4)
	// Output:
	// from 0 to 50 as the sequential sweep: true
	// from 50 to 120 as the sequential sweep: true
}
