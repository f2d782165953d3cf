package main

// deal says which node has which block, row by row. No node has more blocks than it
// must, and of the ways to do that which are looked at it is the one with the least
// frontier between nodes: rectangles of blocks, whole rows if there is a choice, or
// where no rectangles fit as many blocks for each node in the order of rows, or of
// columns.
//
//	2 nodes   0 0 0 0     4 nodes   0 0 1 1     3 nodes   0 0 0 0
//	          0 0 0 0               0 0 1 1               0 0 1 1
//	          1 1 1 1               2 2 3 3               1 1 1 2
//	          1 1 1 1               2 2 3 3               2 2 2 2
func deal(grid, each size, nodes int) []int {
	var best []int
	var least burden
	try := func(node func(row, col int) int) {
		dealt := make([]int, 0, grid.cells())
		for row := range grid.rows {
			for col := range grid.cols {
				dealt = append(dealt, node(row, col))
			}
		}
		if b := burdenOf(dealt, grid, each, nodes); best == nil || b.less(least) {
			best, least = dealt, b
		}
	}
	for across := 1; across <= min(nodes, grid.cols); across++ {
		down := nodes / across
		if down*across != nodes || down > grid.rows {
			continue
		}
		try(func(row, col int) int { return row*down/grid.rows*across + col*across/grid.cols })
	}
	blocks := grid.rows * grid.cols
	try(func(row, col int) int { return (row*grid.cols + col) * nodes / blocks })
	try(func(row, col int) int { return (col*grid.rows + row) * nodes / blocks })
	return best
}

// burden is what a deal asks of the nodes.
type burden struct {
	blocks   int   // of the node that has most
	frontier int64 // elements on one side of it, between all nodes
}

func (b burden) less(c burden) bool {
	if b.blocks != c.blocks {
		return b.blocks < c.blocks
	}
	return b.frontier < c.frontier
}

func burdenOf(dealt []int, grid, each size, nodes int) (b burden) {
	blocks := make([]int, nodes)
	for n, node := range dealt {
		blocks[node]++
		b.blocks = max(b.blocks, blocks[node])
		if east := n + 1; east%grid.cols != 0 && dealt[east] != node {
			b.frontier += int64(each.rows)
		}
		if south := n + grid.cols; south < len(dealt) && dealt[south] != node {
			b.frontier += int64(each.cols)
		}
	}
	return b
}
