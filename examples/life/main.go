// Conway's Game of Life on a torus. A glider comes back to where it was.
//
//	go run ./examples/life -soup 120 -sweeps 400 -plot life.gif
package main

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"

	_ "github.com/orwl/go-orwl/orwl/nodes" // for several nodes
	"github.com/orwl/go-orwl/orwl/stencil"
	"github.com/orwl/go-orwl/orwl/stencil/show"
)

const sweeps = 64 // four times the side of the torus, if it has a glider

var soup = flag.Int("soup", 0, "begin with random cells on a torus of `N` cells on a side, and not with a glider on one of 16")

func main() { show.Main(life) }

func glider(at []int) uint8 {
	switch [2]int(at) {
	case [2]int{0, 1}, [2]int{1, 2}, [2]int{2, 0}, [2]int{2, 1}, [2]int{2, 2}:
		return 1
	}
	return 0
}

// random is 1 in three cells of eight. It is the same in every run.
func random(at []int) uint8 {
	n := uint64(at[0])<<32 + uint64(at[1]) + 1
	for range 3 {
		n = (n ^ n>>31) * 0x9E3779B97F4A7C15
	}
	if n>>61 < 3 {
		return 1
	}
	return 0
}

// generation computes a row from the three rows around it, each shifted by -1, 0 and 1. Eight
// cells at a time are the bytes of one number.
func generation(next []uint8, near [9][]uint8) {
	n := len(next) // with slices of this length the loop checks fewer indices
	a, b, c, d, old, e, f, g, h := near[0][:n], near[1][:n], near[2][:n], near[3][:n], near[4][:n], near[5][:n], near[6][:n], near[7][:n], near[8][:n]
	i := 0
	for ; i+8 <= n; i += 8 {
		alive := eight(a[i:]) + eight(b[i:]) + eight(c[i:]) + eight(d[i:]) + eight(e[i:]) + eight(f[i:]) + eight(g[i:]) + eight(h[i:])
		binary.NativeEndian.PutUint64(next[i:], live(alive, eight(old[i:])))
	}
	for ; i < n; i++ {
		next[i] = uint8(live(uint64(a[i]+b[i]+c[i]+d[i]+e[i]+f[i]+g[i]+h[i]), uint64(old[i])))
	}
}

// eight is the first eight cells, as the bytes of a number.
func eight(cells []uint8) uint64 { return binary.NativeEndian.Uint64(cells) }

// live is 1 in each byte whose cell will live: three cells around it do, or two and itself.
func live(around, old uint64) uint64 {
	const ones = 0x0101010101010101
	other := (around | old) ^ 3*ones       // 0 in such a byte, and at most 15 in any
	return ^(other + 127*ones) >> 7 & ones // bit 7 of the sum is 0 in such a byte
}

func life(ctx context.Context, r *show.Run) error {
	side, first := 16, glider
	if *soup > 0 {
		side, first = *soup, random
	}
	g := r.Grid(stencil.Options{Size: stencil.Size{side, side}, Corners: true, Periodic: []bool{true, true}})
	u := stencil.NewField(g, "alive", stencil.FieldOptions[uint8]{Halo: stencil.Around(1), Initial: first})
	err := r.Sweep(ctx, sweeps, func(b *stencil.Block) {
		for r := range b.Rows() {
			var near [9][]uint8
			for i := range near {
				near[i] = u.Old(r, i/3-1, i%3-1)
			}
			generation(u.New(r), near)
		}
	}, show.Field(u))
	if err != nil || !r.Prints() || *soup > 0 {
		return err
	}
	cells, err := u.Values(ctx)
	if err != nil {
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
