// Conway's Game of Life on a torus. A glider comes back to where it was.
//
//	go run ./examples/life -plot life.gif
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

const side = 16

var look = show.Flags(flag.CommandLine) // -plot, -progress

func main() {
	flag.Parse()
	if err := orwl.Run(context.Background(), orwl.Options{}, life); err != nil {
		log.Fatal(err)
	}
}

func glider(at []int) uint8 {
	switch [2]int(at) {
	case [2]int{0, 1}, [2]int{1, 2}, [2]int{2, 0}, [2]int{2, 1}, [2]int{2, 2}:
		return 1
	}
	return 0
}

func life(ctx context.Context, rt *orwl.Runtime) error {
	g := stencil.New(rt, stencil.Options{Size: stencil.Size{side, side}, Corners: true, Periodic: []bool{true, true}})
	u := stencil.NewField(g, "alive", stencil.FieldOptions[uint8]{Halo: stencil.Around(1), Initial: glider})
	err := g.Sweep(4*side, func(b *stencil.Block) {
		for r := range b.Rows() {
			old, next := u.Old(r), u.New(r)
			var around [8][]uint8
			for i, d := range [8][2]int{{-1, -1}, {-1, 0}, {-1, 1}, {0, -1}, {0, 1}, {1, -1}, {1, 0}, {1, 1}} {
				around[i] = u.Old(r, d[0], d[1])
			}
			for i := range next {
				n := uint8(0)
				for _, row := range around {
					n += row[i]
				}
				next[i] = 0
				if n == 3 || n == 2 && old[i] == 1 {
					next[i] = 1
				}
			}
		}
	})
	if err != nil {
		return err
	}
	if err := look.Run(ctx, show.Field(u)); err != nil {
		return err
	}
	cells, err := u.Values(ctx)
	if err != nil || rt.Node() > 0 {
		return err
	}
	for row := range 4 {
		for col := range side {
			fmt.Print(string(".#"[cells[row*side+col]]))
		}
		fmt.Println()
	}
	return nil
}
