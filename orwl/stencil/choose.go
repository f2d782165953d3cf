package stencil

import "runtime"

// A grid that chooses its blocks wants several for each processor, so that a processor whose
// block waits has another one. More of them cost more exchanges. In place, blocks compute in a
// wavefront: a grid of blocks as wide as it is high keeps twice as many processors busy as
// there are blocks on a side.
const (
	blocksEach = 2  // for each processor
	fewestEach = 16 // cells on a side
)

// processors is how many sweep the grid.
func (g *Grid) processors() int { return runtime.GOMAXPROCS(0) * g.rt.Nodes() }

// chooseBlocks cuts the dimension in which blocks are longest into twice as many, until there are
// enough for the processors. It prefers the slowest dimension, in which an edge is one piece of
// memory. More blocks, which would fit into a cache while they are swept several times, were slower.
func (g *Grid) chooseBlocks() {
	for i := range dims {
		if g.update == InPlace && g.around[i] {
			g.blocks[i] = 2
		}
	}
	for g.blocks.product() < blocksEach*g.processors() {
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

// A grid that does not fit into the caches comes from memory once in each pass, and a small block's
// exchange costs more than its sweep. In place a pass of several sweeps computes nothing twice. So
// there a large grid has as many sweeps in a pass as its blocks allow, as long as the passes
// are so many that the processors do not wait for the wavefront to spread. The node's caches are not
// asked, since all nodes have to choose the same.
const gridCache = 4 << 20 // bytes of a grid that the caches of a node keep

// Deepest is the most sweeps between two exchanges that a grid chooses.
const Deepest = 8

// bytes is the size of all fields.
func (g *Grid) bytes() (sum int) {
	for _, f := range g.fields {
		sum += f.generations() * f.elementBytes() * g.size.product()
	}
	return sum
}

// divide cuts the grid into blocks, and chooses the sweeps of a pass if the options leave that to it.
func (g *Grid) divide() error {
	deep := g.o.Sweeps == 0 && g.update == InPlace && g.around == [dims]bool{} && len(g.reductions) == 0
	if deep && g.bytes() > gridCache*g.rt.Nodes() {
		for g.tiling.sweeps = Deepest; g.tiling.sweeps > 1; g.tiling.sweeps /= 2 {
			if g.cutBlocks() == nil && g.spreads() && g.checkpointsBetween() {
				return nil
			}
		}
	}
	return g.cutBlocks()
}

// spreads reports whether the passes are so many that most of the time all processors have a
// block. The wavefront of the first pass crosses as many blocks as the sides of the grid have.
func (g *Grid) spreads() bool {
	sides := 0
	for _, n := range g.blocks {
		sides += n - 1
	}
	passes := g.total / g.tiling.sweeps
	return passes*g.blocks.product() >= 4*g.processors()*sides
}

// checkpointsBetween reports whether no checkpoint is due within a pass.
func (g *Grid) checkpointsBetween() bool {
	return g.o.Checkpoint.Dir == "" || g.o.Checkpoint.Every%g.tiling.sweeps == 0
}
