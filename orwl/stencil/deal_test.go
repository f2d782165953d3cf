package stencil

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/orwl/internal/balance"
)

// dealt is a grid of blocks of equal size, without tiles.
func dealt(rows, cols, high, wide int) *Grid {
	g := new(Grid)
	g.blocks, g.size = vec{1, rows, cols}, vec{1, rows * high, cols * wide}
	return g
}

func TestDeal(t *testing.T) {
	for _, c := range []struct {
		rows, cols, high, wide int
		nodes                  int
		want                   string
	}{
		{1, 1, 5, 5, 1, "0"},
		{4, 4, 5, 5, 2, "0000 0000 1111 1111"},
		{4, 4, 5, 5, 4, "0011 0011 2233 2233"},
		{4, 4, 5, 5, 3, "0000 0011 1112 2222"},
		{2, 4, 5, 5, 2, "0011 0011"},
		{2, 2, 1, 9, 2, "01 01"}, // rows are longer than columns
		{1, 5, 5, 5, 3, "00112"},
		{5, 1, 5, 5, 2, "0 0 0 1 1"},
		{4, 2, 9, 1, 2, "00 00 11 11"},
		{2, 3, 1, 9, 5, "013 024"},
	} {
		var rows []string
		all := dealt(c.rows, c.cols, c.high, c.wide).dealBlocks(slices.Repeat([]int{balance.Mean}, c.nodes))
		for ; len(all) > 0; all = all[c.cols:] {
			rows = append(rows, strings.ReplaceAll(strings.Trim(fmt.Sprint(all[:c.cols]), "[]"), " ", ""))
		}
		if got := strings.Join(rows, " "); got != c.want {
			t.Errorf("%dx%d of %dx%d on %d nodes: %s, want %s", c.rows, c.cols, c.high, c.wide, c.nodes, got, c.want)
		}
	}
}

// A cube goes to eight nodes as eight cubes.
func TestDealCubes(t *testing.T) {
	g := new(Grid)
	g.blocks, g.size = vec{4, 4, 4}, vec{40, 40, 40}
	for n, node := range g.dealBlocks(slices.Repeat([]int{balance.Mean}, 8)) {
		at := g.place(n)
		if want := at[0]/2*4 + at[1]/2*2 + at[2]/2; node != want {
			t.Errorf("block %v is of node %d, want %d", at, node, want)
		}
	}
}

// Each node has a block, and none has more than one more than it must.
func TestDealIsFair(t *testing.T) {
	for rows := 1; rows <= 9; rows++ {
		for cols := 1; cols <= 9; cols++ {
			for nodes := 1; nodes <= rows*cols; nodes++ {
				blocks := make([]int, nodes)
				for _, node := range dealt(rows, cols, 3, 7).dealBlocks(slices.Repeat([]int{balance.Mean}, nodes)) {
					blocks[node]++
				}
				most := (rows*cols + nodes - 1) / nodes
				for node, n := range blocks {
					if n < 1 || n > most {
						t.Errorf("%dx%d on %d nodes: node %d has %d blocks, want 1 to %d", rows, cols, nodes, node, n, most)
					}
				}
			}
		}
	}
}
