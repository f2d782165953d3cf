package stencil

import (
	"fmt"

	"github.com/orwl/go-orwl/internal/typed"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/resource"
)

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

// tile is a block with its memory. A resource holds the memory. A task that computes the tile
// holds the resource.
type tile struct {
	// The fields that a pass uses come first. A pass over a small block waits for each line of memory that it reads. So
	// fields has room for the storage of a few fields.
	*shape
	grid   *Grid
	low    vec // the low corner of the block
	block  Block
	fields [8]storage
	watch  watch
	stop   int          // the same number as in the resource, see [layout.stop]
	ended  bool         // the tile has done the last pass
	lasts  []*orwl.Task // by turn: the tasks at the end of its passes

	at   vec
	name string
	node int
	data *resource.Resource
	// in has the cells that the tile imports from each neighbour, by the stage that writes them. out has the cells that
	// each neighbour imports from the tile.
	in, out [][directions]border
	pieces  int     // a pass has so many tasks
	tallies []tally // the values that the tile has added to each reduction
}

// newTile lays out a tile, without its resources.
func (g *Grid) newTile(at vec) *tile {
	t := &tile{grid: g, shape: g.shapeOf(at), at: at, low: g.block(at).low, name: g.o.Name + " " + g.blockName(at)}
	t.block = Block{tile: t, number: g.number(at), memory: t.fields[:0]}
	for i, f := range g.fields {
		t.block.memory = append(t.block.memory, f.newMemory(g.stored(f, at), t.layout.at[i]))
	}
	t.in, t.out = make([][directions]border, len(g.stages)), make([][directions]border, len(g.stages))
	for stage := range g.stages {
		for d := range direction(directions) {
			if n, ok := g.neighbour(at, d); ok && d != here {
				t.in[stage][d].exchange = t.exchange(stage, at, t.low, d)
				t.out[stage][d].exchange = t.exchange(stage, n, g.cornerOf(at, d), d.opposite())
			}
		}
	}
	for _, r := range g.reductions {
		t.tallies = append(t.tallies, tally{partial: empty(), now: r.o.Start})
	}
	return t
}

// stored is the cells of a field that a tile has in memory.
func (g *Grid) stored(f column, at vec) box { return g.reach(at).grown(f.reach()) }

// blockName names the place of a block in the user's dimensions.
func (g *Grid) blockName(at vec) string {
	text := ""
	for i := dims - g.ranks; i < dims; i++ {
		if text != "" {
			text += ","
		}
		text += fmt.Sprint(at[i])
	}
	return text
}

// bind finds the memory of the fields in the bytes of the resource. The caller holds the resource.
func (t *tile) bind(data []byte) {
	for _, i := range t.grid.changing {
		t.block.memory[i].bind(data)
	}
	t.stop = t.stopIn(data)
}

// stopIn is after how many sweeps a reduction ends the run, as far as the bytes of the resource have it; 0 if they do not. The
// next life of a run begins with these bytes, and with nothing else that a tile knows.
func (t *tile) stopIn(data []byte) int {
	if t.layout.stop < 0 {
		return 0
	}
	return int(typed.Slice[int64](data[t.layout.stop:][:8])[0])
}

// A field begins at a line of memory of so many bytes, if its elements allow: a vector that lies in two lines takes as long as two.
const line = 64

// kind has all on which the shape of a block depends.
type kind struct {
	size        vec
	first, last [dims]bool
}

func (t *tiling) kindOf(at vec) kind {
	k := kind{size: t.block(at).size()}
	for i, n := range t.blocks {
		k.first[i], k.last[i] = at[i] == 0, at[i] == n-1
	}
	return k
}

// shape is the part of a tile that all tiles of a kind share. Places are relative to the low corner of the block.
type shape struct {
	imports *imports
	regions []box  // each sweep of a pass computes one region
	layout  layout // where the fields that change lie in the tile's resource
	bytes   int    // all fields have so many
}

// shapeOf is the shape of a block's tile. It is computed once for all blocks of a kind.
func (g *Grid) shapeOf(at vec) *shape {
	k := g.kindOf(at)
	s, known := g.shapes[k]
	if !known {
		s = g.newShape(at)
		g.shapes[k] = s
	}
	return s
}

func (g *Grid) newShape(at vec) *shape {
	s := &shape{imports: g.tiling.compute(at)}
	for sweep := range g.tiling.sweeps {
		s.regions = append(s.regions, g.region(at, sweep).moved(vec{}.minus(g.block(at).low)))
	}
	for _, f := range g.fields {
		n := f.generations() * g.stored(f, at).cells()
		s.bytes += n * f.elementBytes()
		if !f.changes() {
			n = 0
		}
		s.layout.bytes = divideUp(s.layout.bytes, line) * line
		s.layout.add(n, f.elementBytes())
	}
	s.layout.stop = -1
	if g.ends() {
		s.layout.add(1, 8)
		s.layout.stop = s.layout.at[len(g.fields)]
	}
	s.layout.end(g)
	return s
}

// layout says where fields lie in the bytes of a resource, one after another. Each field begins at a multiple of its
// element's size, and the size of the whole is a multiple of each element's size. So the bytes can be read as elements of
// any field.
type layout struct {
	at    []int // each field begins at this byte; -1 if it is not there
	bytes int
	stop  int // the number of sweeps after which a reduction ends the run is at this byte of a tile; -1 if no reduction may
}

// add places so many elements of a size behind the fields before.
func (l *layout) add(elements, size int) {
	if elements == 0 {
		l.at = append(l.at, -1)
		return
	}
	at := divideUp(l.bytes, size) * size
	l.at = append(l.at, at)
	l.bytes = at + elements*size
}

// end rounds the size up to a multiple of the sizes of all elements, and of 8.
func (l *layout) end(g *Grid) {
	unit := 8
	for _, f := range g.fields {
		unit = unit / gcd(unit, f.elementBytes()) * f.elementBytes()
	}
	l.bytes = divideUp(l.bytes, unit) * unit
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
