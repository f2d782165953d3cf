package main

import (
	"fmt"
	"strings"
	"testing"
)

func TestDeal(t *testing.T) {
	for _, c := range []struct {
		grid, each size
		nodes      int
		want       string
	}{
		{size{1, 1}, size{5, 5}, 1, "0"},
		{size{4, 4}, size{5, 5}, 2, "0000 0000 1111 1111"},
		{size{4, 4}, size{5, 5}, 4, "0011 0011 2233 2233"},
		{size{4, 4}, size{5, 5}, 3, "0000 0011 1112 2222"},
		{size{2, 4}, size{5, 5}, 2, "0011 0011"},
		{size{2, 2}, size{1, 9}, 2, "01 01"}, // rows are longer than columns
		{size{1, 5}, size{5, 5}, 3, "00112"},
		{size{5, 1}, size{5, 5}, 2, "0 0 0 1 1"},
		{size{4, 2}, size{9, 1}, 2, "00 00 11 11"},
		{size{2, 3}, size{1, 9}, 5, "013 024"},
	} {
		dealt := deal(c.grid, c.each, c.nodes)
		var rows []string
		for row := range c.grid.rows {
			rows = append(rows, strings.Trim(fmt.Sprint(dealt[row*c.grid.cols:(row+1)*c.grid.cols]), "[]"))
		}
		if got := strings.ReplaceAll(strings.Join(rows, "|"), " ", ""); got != strings.ReplaceAll(c.want, " ", "|") {
			t.Errorf("%v of %v on %d nodes: %s, want %s", c.grid, c.each, c.nodes, got, c.want)
		}
	}
}

// TestDealIsFair deals many grids: each node has a block, and none has more than
// one more than it must.
func TestDealIsFair(t *testing.T) {
	for rows := 1; rows <= 9; rows++ {
		for cols := 1; cols <= 9; cols++ {
			for nodes := 1; nodes <= rows*cols; nodes++ {
				blocks := make([]int, nodes)
				for _, node := range deal(size{rows, cols}, size{3, 7}, nodes) {
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
