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
	// storage of a few fields is in fields.
	*shape
	grid   *Grid
	low    vec // the low corner of the block
	block  Block
	fields [8]storage
	watch  watch
	flows  []any        // of each reduction
	stop   int          // how many passes there are, if a reduction ends the run
	done   atomic.Int64 // sweeps

	at     vec
	name   string
	node   int
	slot   int // among the tiles of the node
	data   *resource.Resource
	in     [directions]border // what it imports from each neighbour
	out    [directions]border // what each neighbour imports from it
	stages int                // tasks that take turns in a pass
}

// newTile lays out a tile, without its resources.
func (g *Grid) newTile(at vec) *tile {
	t := &tile{grid: g, shape: g.shapeOf(at), at: at, low: g.block(at).low, name: g.o.Name + " " + g.blockName(at)}
	t.block = Block{tile: t, number: g.number(at), memory: t.fields[:0]}
	for i, f := range g.fields {
		t.block.memory = append(t.block.memory, f.newMemory(g.stored(f, at), t.layout.at[i]))
	}
	for d := range direction(directions) {
		if n, ok := g.neighbour(at, d); ok && d != here {
			t.in[d].exchange = t.exchange(at, t.low, d)
			t.out[d].exchange = t.exchange(n, g.cornerOf(at, d), d.opposite())
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
