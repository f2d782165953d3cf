package stencil

import (
	"math"
	"slices"

	"github.com/orwl/go-orwl/orwl/internal/balance"
)

// A grid that chooses its blocks wants several for each processor, so that a processor whose
// block waits has another one. More of them cost more exchanges. In place, blocks compute in a
// wavefront: a grid of blocks as wide as it is high keeps twice as many processors busy as
// there are blocks on a side.
const (
	blocksEach = 2  // the grid wants so many blocks for each processor
	fewestEach = 16 // a block has at least so many cells on a side
)

// chooseBlocks doubles the number of blocks in one dimension, until there are enough for the processors. It takes the
// slowest dimension as long as blocks keep whole rows, and the dimension in which blocks are longest if they do not. Of
// equal ones it takes the slowest, because an edge there is one piece of memory. Smaller blocks, which fit into a cache for
// several sweeps, were slower.
func (g *Grid) chooseBlocks() {
	for i := range dims {
		if g.update == InPlace && g.around[i] {
			g.blocks[i] = 2
		}
	}
	for g.blocks.product() < blocksEach*g.rt.Processors() {
		dim, longest := -1, 0
		for i := g.slowest(); i < dims; i++ {
			if i > g.slowest() && (g.wholeRows || g.update == InPlace && g.box) {
				break // whole rows; Options.Corners says why a box in place keeps them
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

// In each pass, a grid that does not fit into the caches comes from memory once, and a small block's exchange costs more
// than its sweep. So a large grid makes many sweeps in a pass. In place, no cell is computed twice, but with few passes
// processors wait until the wavefront has spread. With Jacobi, cells near the edges of blocks are computed again. The grid
// chooses what takes least time by a model. All nodes have to choose the same, in all lives, so the model has a constant
// instead of the size of a node's caches.
const gridCache = 4 << 20 // the caches keep so many bytes of a grid

// A sweep from the cache takes this part of the time of a sweep from memory, with 1 to 8 sweeps in a pass. A kernel that
// computes more gains less, and loses little by more sweeps.
const (
	inCache       = 0.4  // LLK23 with its fast kernel
	inCacheJacobi = 0.55 // the mean of six neighbours in a cube
)

// partRows is how many times as long LLK23 takes, from memory in several sweeps, if blocks have parts of the grid's rows
// instead of whole ones: 1.05 ns beside 0.75 for 2000 x 2000 elements.
const partRows = 1.4

// Deepest is the most sweeps between two exchanges that a grid chooses by itself.
const Deepest = 8

// bytes is the size of all fields.
func (g *Grid) bytes() (sum int) {
	for _, f := range g.fields {
		sum += f.generations() * f.elementBytes() * g.size.product()
	}
	return sum
}

// divide cuts the grid into blocks. If the options leave it to the grid, it chooses their shape and the sweeps of a pass.
func (g *Grid) divide() error {
	if g.bytes() <= gridCache {
		return g.cutBlocks()
	}
	deepest, shapes := g.tiling.sweeps, []bool{false}
	if g.o.Sweeps == 0 && g.around == [dims]bool{} && len(g.stages) <= 1 {
		deepest = Deepest
	}
	if len(g.o.Blocks) == 0 && g.update == InPlace {
		shapes = []bool{true, false}
	}
	sweeps, rows, least := g.tiling.sweeps, false, math.Inf(1)
	for g.tiling.sweeps = sweeps; g.tiling.sweeps <= deepest; g.tiling.sweeps *= 2 {
		for _, g.wholeRows = range shapes {
			if g.cutBlocks() == nil && g.valuesBetween() {
				if t := g.time(); t < least {
					sweeps, rows, least = g.tiling.sweeps, g.wholeRows, t
				}
			}
		}
	}
	g.tiling.sweeps, g.wholeRows = sweeps, rows
	return g.cutBlocks()
}

// time estimates how long the run takes. The unit is the time of one sweep over the grid from memory. The processors share
// the blocks of all passes. In place, they also wait for a part of the longest chain of blocks that wait for each other
// (Brent's bound). The first pass crosses the sides of the grid. A block waits for its neighbours on all sides, so the next
// pass is two blocks behind.
func (g *Grid) time() float64 {
	passes := divideUp(g.total, g.tiling.sweeps)
	chain, cached, cut := passes, inCacheJacobi, 1.
	if g.update == InPlace {
		sides, behind := 0, 1
		for i, n := range g.blocks {
			if sides += n - 1; n > 1 && i > g.slowest() {
				cut = partRows
			}
		}
		if sides > 0 {
			behind = 2
		}
		chain, cached = 1+sides+behind*(passes-1), inCache
	}
	sweeps := g.work() * float64(g.total) / float64(passes*g.tiling.sweeps) // a pass has so many in the mean
	processors, blocks := float64(g.rt.Processors()), float64(g.blocks.product())
	// The conversions round: nodes with other processors choose the same.
	waits := float64(float64(passes)*blocks/processors) + float64((1-1/processors)*float64(chain))
	return cut * (1 - cached + float64(cached*sweeps)) * waits / blocks
}

// work is how many cells a pass computes for a block in the middle of the grid, divided by the cells of the block.
func (g *Grid) work() float64 {
	if g.update == InPlace {
		return float64(g.tiling.sweeps)
	}
	var at vec
	for i, n := range g.blocks {
		at[i] = n / 2
	}
	sum := 0
	for s := range g.tiling.sweeps {
		sum += g.region(at, s).cells()
	}
	return float64(sum) / float64(g.block(at).cells())
}

// valuesBetween reports whether reductions have no value, and no end, within a pass.
func (g *Grid) valuesBetween() bool {
	return !slices.ContainsFunc(g.reductions, func(r *Reduction) bool { return !r.fits(g.tiling.sweeps) })
}

// dealBlocks says which node has which block. No node has more blocks than it must, by its weight: see package balance. It
// tries three deals: boxes of blocks, shares in the order of the blocks, and shares with the dimensions in the other order.
// It takes the deal with the fewest cells at edges between nodes. Among equal deals it takes the first one: boxes that are cut in the
// slowest dimension.
//
//	2 nodes   0 0 0 0     4 nodes   0 0 1 1     3 nodes   0 0 0 0
//	          0 0 0 0               0 0 1 1               0 0 1 1
//	          1 1 1 1               2 2 3 3               1 1 1 2
//	          1 1 1 1               2 2 3 3               2 2 2 2
func (g *Grid) dealBlocks(weights []int) []int {
	nodes := len(weights)
	var best []int
	var least burden
	try := func(node func(at vec) int) {
		dealt := make([]int, g.blocks.product())
		for n := range dealt {
			dealt[n] = node(g.place(n))
		}
		if b := g.burden(dealt, weights); best == nil || b.less(least) {
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
	var order []int // the node of each place in an order
	for node, n := range balance.Shares(g.blocks.product(), weights) {
		order = append(order, slices.Repeat([]int{node}, n)...)
	}
	try(func(at vec) int { return order[g.number(at)] })
	try(func(at vec) int { return order[(at[2]*g.blocks[1]+at[1])*g.blocks[0]+at[0]] })
	return best
}

// burden is what a deal costs.
type burden struct {
	blocks, weight int // of the node with most blocks for its weight
	cells          int // so many cells lie at edges between nodes
}

func (b burden) less(c burden) bool {
	if b.blocks*c.weight != c.blocks*b.weight {
		return b.blocks*c.weight < c.blocks*b.weight
	}
	return b.cells < c.cells
}

func (g *Grid) burden(dealt, weights []int) (b burden) {
	blocks := make([]int, len(weights))
	for _, node := range dealt {
		blocks[node]++
	}
	for node, n := range blocks {
		if here := (burden{blocks: n, weight: weights[node]}); node == 0 || b.less(here) {
			b = here
		}
	}
	for n, node := range dealt {
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

// stepName names a direction in the user's dimensions.
func (g *Grid) stepName(d direction) string { return g.blockName(d.step()) }

// Node says which node has the block of a number. Call it after [Grid.Sweep].
func (g *Grid) Node(block int) int { return g.tiles[block].node }
