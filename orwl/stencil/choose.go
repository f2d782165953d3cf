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

// chooseBlocks doubles the number of blocks in the dimension in which they are longest, until there are enough for the
// processors. It prefers the slowest dimension, because an edge there is one piece of memory. Smaller blocks, which fit
// into a cache for several sweeps, were slower.
func (g *Grid) chooseBlocks() {
	for i := range dims {
		if g.update == InPlace && g.around[i] {
			g.blocks[i] = 2
		}
	}
	for g.blocks.product() < blocksEach*g.rt.Processors() {
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

// In each pass, a grid that does not fit into the caches comes from memory once, and a small block's exchange costs more
// than its sweep. In place, a pass of several sweeps computes no cell twice. So a large grid in place makes many sweeps
// in a pass. But with few passes, processors wait until the wavefront has spread. The grid chooses what takes least time
// by a model. All nodes have to choose the same, in all lives, so the model has a constant instead of the size of a node's caches.
const gridCache = 4 << 20 // the caches keep so many bytes of a grid

// inCache is the time of a sweep from the cache, divided by the time of a sweep from memory. LLK23 takes so much with its
// fast kernel and 1 to 8 sweeps in a pass. A kernel that computes more gains less, and loses little by more sweeps.
const inCache = 0.4

// Deepest is the most sweeps between two exchanges that a grid chooses by itself.
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
	deep := g.o.Sweeps == 0 && g.update == InPlace && g.around == [dims]bool{}
	if deep && g.bytes() > gridCache {
		best, least := 1, math.Inf(1)
		for g.tiling.sweeps = 1; g.tiling.sweeps <= Deepest; g.tiling.sweeps *= 2 {
			if g.cutBlocks() == nil && g.valuesBetween() {
				if t := g.time(); t < least {
					best, least = g.tiling.sweeps, t
				}
			}
		}
		g.tiling.sweeps = best
	}
	return g.cutBlocks()
}

// time estimates how long the run takes in place. The unit is the time of one block from memory. The processors share the
// blocks of all passes. They also wait for a part of the longest chain of blocks that wait for each other (Brent's
// bound). The first pass crosses the sides of the grid. A block waits for its neighbours on all sides, so the next pass
// is two blocks behind.
func (g *Grid) time() float64 {
	sides, behind := 0, 1
	for _, n := range g.blocks {
		sides += n - 1
	}
	if sides > 0 {
		behind = 2
	}
	passes := divideUp(g.total, g.tiling.sweeps)
	chain := 1 + sides + behind*(passes-1)
	sweeps := float64(g.total) / float64(passes) // a pass has so many in the mean
	processors := float64(g.rt.Processors())
	// The conversions round: nodes with other processors choose the same.
	blocks := float64(passes*g.blocks.product())/processors + float64((1-1/processors)*float64(chain))
	return (1 - inCache + float64(inCache*sweeps)) * blocks
}

// valuesBetween reports whether reductions have no value, and no end, within a pass.
func (g *Grid) valuesBetween() bool {
	return !slices.ContainsFunc(g.reductions, func(r *Reduction) bool { return !r.fits(g.tiling.sweeps) })
}

// dealBlocks says which node has which block. No node has more blocks than it must, by its weight: see package balance. It tries three deals:
// boxes of blocks, shares in the order of the blocks, and shares with the dimensions in the other order. It takes the
// deal with the fewest cells at edges between nodes. Among equal deals it takes the first one: boxes that are cut in the
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
