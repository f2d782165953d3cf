package stencil

// A pass is one sweep over a block, or several, between two exchanges with its neighbours. The cells that a pass computes
// for a block are its tile, which has a region for each sweep.
//
// With Jacobi, sweep s reads the result of sweep s-1 on all sides. The regions of a pass form a trapezoid. The first
// sweep also computes cells of the neighbours, as many as the later sweeps need, and the last one computes the block:
//
//	sweep 2          [  block  ]
//	sweep 1        [             ]
//	sweep 0      [                 ]
//	             ╎   ╎         ╎   ╎
//
// In place, sweep s reads the same sweep on its low sides, and the sweep before on its high sides. The regions form a
// parallelogram. Each sweep moves to the low sides, so that it finds cells on its high sides that the tile itself has
// computed in the sweep before. No cell is computed twice. The tiles of a pass go in the order of the blocks:
//
//	sweep 2      [         ]
//	sweep 1        [         ]
//	sweep 0          [  block  ]
//
// At an edge of the grid a region ends there.
type tiling struct {
	update Update
	box    bool // the kernel reads across corners
	corner bool // neighbours across corners exchange cells
	size   vec  // the cells of the grid
	blocks vec
	around [dims]bool // the periodic dimensions
	sweeps int        // a pass has so many
	// wholeRows says that blocks which the grid chooses have all cells of the faster dimensions.
	wholeRows bool
	halo      widths // how far kernels read the fields that change
}

// shift is how far each sweep's region moves, in place.
func (t *tiling) shift(dim int) int { return max(t.halo.low[dim], t.halo.high[dim]) }

// cut is the cell at which block i of a dimension begins.
func (t *tiling) cut(dim, i int) int { return i * t.size[dim] / t.blocks[dim] }

// block is the cells of the block at a place of the grid of blocks.
func (t *tiling) block(at vec) (b box) {
	for i := range dims {
		b.low[i], b.high[i] = t.cut(i, at[i]), t.cut(i, at[i]+1)
	}
	return b
}

// number is the number of a block in the order of all blocks.
func (t *tiling) number(at vec) int { return (at[0]*t.blocks[1]+at[1])*t.blocks[2] + at[2] }

// place is the place of the block of a number.
func (t *tiling) place(number int) vec {
	return vec{number / (t.blocks[1] * t.blocks[2]), number / t.blocks[2] % t.blocks[1], number % t.blocks[2]}
}

// neighbour is the place of the block in a direction, if there is one.
func (t *tiling) neighbour(at vec, d direction) (vec, bool) {
	at = at.plus(d.step())
	for i, n := range t.blocks {
		switch {
		case at[i] >= 0 && at[i] < n:
		case t.around[i]:
			at[i] = (at[i] + n) % n
		default:
			return at, false
		}
	}
	return at, true
}

// first and last say that no block is on that side.
func (t *tiling) first(at vec, dim int) bool { return at[dim] == 0 && !t.around[dim] }
func (t *tiling) last(at vec, dim int) bool {
	return at[dim] == t.blocks[dim]-1 && !t.around[dim]
}

// region is the cells that a sweep of a pass computes in the tile of a block. In a periodic dimension it may go beyond the grid.
func (t *tiling) region(at vec, sweep int) box {
	b := t.block(at)
	for i := range dims {
		low, high := -sweep*t.shift(i), -sweep*t.shift(i)
		if t.update == Jacobi {
			left := t.sweeps - 1 - sweep
			low, high = -left*t.halo.low[i], left*t.halo.high[i]
		}
		if !t.first(at, i) {
			b.low[i] += low
		}
		if !t.last(at, i) {
			b.high[i] += high
		}
	}
	return b
}

// reach is all cells that a pass computes.
func (t *tiling) reach(at vec) box {
	b := t.block(at)
	for s := range t.sweeps {
		b = b.hull(t.region(at, s))
	}
	return b
}

// reads reports whether a sweep of the tile reads or changes a cell.
func (t *tiling) reads(at vec, sweep int, c vec) bool {
	r := t.region(at, sweep)
	if t.corner {
		return r.grown(t.halo).contains(c)
	}
	for i := range dims {
		if r.grown(t.halo.only(i)).contains(c) {
			return true
		}
	}
	return false
}

// side is the direction in which a cell lies from the region of a sweep.
func (t *tiling) side(at vec, sweep int, c vec) direction {
	r := t.region(at, sweep)
	var step vec
	for i := range dims {
		if c[i] < r.low[i] {
			step[i] = -1
		} else if c[i] >= r.high[i] {
			step[i] = 1
		}
	}
	return directionOf(step)
}

// source is the direction from which a pass gets a cell: to the neighbour that has computed it last when the pass begins.
// It is here for a cell that the tile itself has.
func (t *tiling) source(at vec, c vec) direction {
	if t.update == InPlace {
		for s := t.sweeps - 1; s >= 0; s-- {
			d := t.side(at, s, c)
			if n, ok := t.neighbour(at, d); ok && t.number(n) < t.number(at) {
				return d // the neighbour has done this pass
			}
		}
	}
	return t.side(at, t.sweeps-1, c) // a tile has computed it in the pass before
}

// result is the cells whose newest values a tile has when all tiles have done a pass: the region of the last sweep. This
// holds after a shorter pass, too, and before the first one. Tiles import cells from the tile that has computed them
// last.
func (t *tiling) result(at vec) box { return t.region(at, t.sweeps-1) }
