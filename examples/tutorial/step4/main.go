// Step 4 of the tutorial: the same plate on several nodes.
//
//	go run ./examples/tutorial/step4 -nodes 2
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"

	"github.com/orwl/go-orwl/examples/tutorial/draw"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/launch"
	_ "github.com/orwl/go-orwl/orwl/nodes" // the network
	"github.com/orwl/go-orwl/orwl/stencil"
)

const size, sweeps = 48, 1000

func main() {
	nodes := flag.Int("nodes", 1, "processes on this machine")
	flag.Parse()
	if ended, code := launch.Self(*nodes); ended {
		os.Exit(code) // this process has started the others, and they have ended
	}
	if err := orwl.Run(context.Background(), orwl.Options{}, run); err != nil {
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
	tasks := 0
	for _, t := range rt.Placement().Tasks {
		if t.Node == rt.Node() {
			tasks++
		}
	}
	fmt.Printf("node %d of %d has run %d tasks\n", rt.Node(), rt.Nodes(), tasks)
	plate, err := heat.Values(ctx)
	if err != nil || rt.Node() != 0 {
		return err // only node 0 prints the plate
	}
	draw.Plate(size, func(row, column int) float64 { return plate[row*size+column] })
	return nil
}
