package stencil

// dealBlocks says which node has which block. No node has more blocks than it must. It
// tries boxes of blocks, as many blocks for each node in the order of the blocks, and the same with
// the dimensions in the other order. It takes the deal with the fewest cells at edges between nodes,
// and the first one of equals: boxes that are cut in the slowest dimension.
//
//	2 nodes   0 0 0 0     4 nodes   0 0 1 1     3 nodes   0 0 0 0
//	          0 0 0 0               0 0 1 1               0 0 1 1
//	          1 1 1 1               2 2 3 3               1 1 1 2
//	          1 1 1 1               2 2 3 3               2 2 2 2
func (g *Grid) dealBlocks(nodes int) []int {
	var best []int
	var least burden
	try := func(node func(at vec) int) {
		dealt := make([]int, g.blocks.product())
		for n := range dealt {
			dealt[n] = node(g.place(n))
		}
		if b := g.burden(dealt, nodes); best == nil || b.less(least) {
			best, least = dealt, b
		}
	}
	for x := 1; x <= min(nodes, g.blocks[2]); x++ {
		for y := 1; y*x <= nodes && y <= g.blocks[1]; y++ {
			boxes := vec{nodes / (y * x), y, x}
			if boxes.product() != nodes || boxes[0] > g.blocks[0] {
				continue
			}
			try(func(at vec) int {
				for i := range at {
					at[i] = at[i] * boxes[i] / g.blocks[i]
				}
				return (at[0]*boxes[1]+at[1])*boxes[2] + at[2]
			})
		}
	}
	blocks := g.blocks.product()
	try(func(at vec) int { return g.number(at) * nodes / blocks })
	try(func(at vec) int { return ((at[2]*g.blocks[1]+at[1])*g.blocks[0] + at[0]) * nodes / blocks })
	return best
}

// burden is what a deal asks of the nodes.
type burden struct {
	blocks int // of the node that has most
	cells  int // at edges between nodes
}

func (b burden) less(c burden) bool {
	if b.blocks != c.blocks {
		return b.blocks < c.blocks
	}
	return b.cells < c.cells
}

func (g *Grid) burden(dealt []int, nodes int) (b burden) {
	blocks := make([]int, nodes)
	for n, node := range dealt {
		blocks[node]++
		b.blocks = max(b.blocks, blocks[node])
		at := g.place(n)
		for i := range dims {
			var step vec
			step[i] = 1
			next, ok := g.neighbour(at, directionOf(step))
			if ok && dealt[g.number(next)] != node {
				size := g.block(at).size()
				b.cells += size.product() / size[i]
			}
		}
	}
	return b
}

// stepName is a direction in the user's dimensions.
func (g *Grid) stepName(d direction) string { return g.blockName(d.step()) }

// Node is which node has the block of a number. It is known after [Grid.Sweep].
func (g *Grid) Node(block int) int { return g.tiles[block].node }
