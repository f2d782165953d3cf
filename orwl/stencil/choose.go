package stencil

// A grid that chooses its blocks wants several for each processor, so that a processor whose
// block waits has another one. More of them cost more exchanges. In place, blocks compute in a
// wavefront: a grid of blocks as wide as it is high keeps twice as many processors busy as
// there are blocks on a side.
const (
	blocksEach = 2  // for each processor
	fewestEach = 16 // cells on a side
)

// chooseBlocks cuts the grid for so many processors. It cuts the dimension in which blocks are
// longest into twice as many, until there are enough. It prefers the slowest dimension, in
// which an edge is one piece of memory.
func (g *Grid) chooseBlocks(processors int) {
	for i := range dims {
		if g.update == InPlace && g.around[i] {
			g.blocks[i] = 2
		}
	}
	for g.blocks.product() < blocksEach*processors {
		dim, longest := -1, 0
		for i := dims - g.ranks; i < dims; i++ {
			if g.update == InPlace && g.box && i > dims-g.ranks {
				break // see Options.Corners
			}
			n := g.size[i] / g.blocks[i]
			if n/2 < max(fewestEach, g.least(i)) {
				continue
			}
			if n > longest {
				dim, longest = i, n
			}
		}
		if dim < 0 {
			return
		}
		g.blocks[dim] *= 2
	}
}
