package stencil

import (
	"fmt"
	"sync/atomic"

	"github.com/orwl/go-orwl/resource"
)

// tile is a block with its memory. A resource holds the memory. A task that computes the tile
// holds the resource.
type tile struct {
	// What a pass goes through comes first. A pass over a small block waits for memory that is elsewhere: so the
	// storage of a few fields is in fields, and the region of a single sweep in region.
	grid    *Grid
	block   Block
	fields  [8]storage
	regions []box // what each sweep of a pass computes
	region  [1]box
	watch   watch
	flows   []any        // of each reduction
	stop    int          // how many passes there are, if a reduction ends the run
	done    atomic.Int64 // sweeps

	at     vec
	name   string
	node   int
	slot   int // among the tiles of the node
	data   *resource.Resource
	layout layout                // of the fields that change, in data
	bytes  int                   // of all fields
	in     [directions]*exchange // what it imports from each neighbour; nil: nothing
	out    [directions]*exchange // what each neighbour imports from it
	stages int                   // tasks that take turns in a pass
}

// newTile lays out a tile, without its resources.
func (g *Grid) newTile(at vec) *tile {
	t := &tile{grid: g, at: at, name: g.o.Name + " " + g.blockName(at)}
	t.block = Block{tile: t, number: g.number(at), memory: t.fields[:0]}
	t.regions = t.region[:0]
	for s := range g.tiling.sweeps {
		t.regions = append(t.regions, g.region(at, s))
	}
	for i, f := range g.fields {
		cells := g.stored(f, at)
		n := f.generations() * cells.cells()
		t.bytes += n * f.elementBytes()
		if !f.changes() {
			n = 0
		}
		t.layout.add(n, f.elementBytes())
		t.block.memory = append(t.block.memory, f.newMemory(cells, t.layout.at[i]))
	}
	t.layout.end(g)
	for d := range direction(directions) {
		if n, ok := g.neighbour(at, d); ok && d != here {
			t.in[d] = g.newExchange(at, d, g.block(at).low)
			t.out[d] = g.newExchange(n, d.opposite(), g.cornerOf(at, d))
		}
	}
	return t
}

// stored is the cells of a field that a tile keeps.
func (g *Grid) stored(f column, at vec) box { return g.reach(at).grown(f.reach()) }

// beside says that the neighbour in a direction is the next block in one dimension, and not
// across the edge of the grid: messages of reductions go there.
func (g *Grid) beside(at vec, d direction) bool {
	step := d.step()
	if step[0]*step[0]+step[1]*step[1]+step[2]*step[2] != 1 {
		return false
	}
	for i, n := range at.plus(step) {
		if n < 0 || n >= g.blocks[i] {
			return false
		}
	}
	return true
}

// blockName is the place of a block in the user's dimensions.
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

// bind finds the memory of the fields in the bytes of the resource, which the tile's task holds.
func (t *tile) bind(data []byte) {
	for _, i := range t.grid.changing {
		t.block.memory[i].bind(data)
	}
}
