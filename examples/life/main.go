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

// generation computes a row from the three rows around it, each shifted by -1, 0 and 1.
func generation(next []uint8, near [9][]uint8) {
	n := len(next) // with slices of this length the loop checks no index
	a, b, c, d, old, e, f, g, h := near[0][:n], near[1][:n], near[2][:n], near[3][:n], near[4][:n], near[5][:n], near[6][:n], near[7][:n], near[8][:n]
	for i := range next {
		alive := a[i] + b[i] + c[i] + d[i] + e[i] + f[i] + g[i] + h[i]
		next[i] = 0
		if alive == 3 || alive == 2 && old[i] == 1 {
			next[i] = 1
		}
	}
}

func life(ctx context.Context, rt *orwl.Runtime) error {
	g := stencil.New(rt, stencil.Options{Size: stencil.Size{side, side}, Corners: true, Periodic: []bool{true, true}})
	u := stencil.NewField(g, "alive", stencil.FieldOptions[uint8]{Halo: stencil.Around(1), Initial: glider})
	err := g.Sweep(4*side, func(b *stencil.Block) {
		for r := range b.Rows() {
			var near [9][]uint8
			for i := range near {
				near[i] = u.Old(r, i/3-1, i%3-1)
			}
			generation(u.New(r), near)
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
