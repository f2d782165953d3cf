// Step 5 of the tutorial: the run goes on after all of it was killed.
//
//	go run ./examples/tutorial/step5 -slow 5ms
package main

import (
	"context"
	"flag"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/orwl/go-orwl/examples/tutorial/draw"
	"github.com/orwl/go-orwl/orwl"
	_ "github.com/orwl/go-orwl/orwl/nodes" // the network
	"github.com/orwl/go-orwl/orwl/stencil"
)

const size, sweeps = 48, 1000

var slow = flag.Duration("slow", 0, "the time that a sweep takes at least")

func main() {
	flag.Parse()
	folder := filepath.Join(os.TempDir(), "orwl-plate")
	if err := orwl.Run(context.Background(), orwl.Options{Survive: orwl.Survive{Folder: folder}}, run); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, rt *orwl.Runtime) error {
	g := stencil.New(rt, stencil.Options{Size: stencil.Size{size, size}, Blocks: stencil.Size{4, 4}})
	heat := stencil.NewField(g, "heat", stencil.FieldOptions[float64]{
		Halo: stencil.Around(1),
		Initial: func(at []int) float64 {
			if at[0] < 0 {
				return 100 // the upper rim
			}
			return 0
		},
	})
	err := g.Sweep(sweeps, func(b *stencil.Block) {
		if n := b.Number(); n == 0 || n == 15 {
			time.Sleep(*slow) // the other blocks wait for the first and the last one
		}
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
	plate, err := heat.Values(ctx) // every node calls it
	if err != nil || rt.Node() != 0 {
		return err
	}
	draw.Plate(size, func(row, column int) float64 { return plate[row*size+column] })
	return nil
}
