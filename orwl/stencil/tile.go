package stencil

import (
	"fmt"
	"sync/atomic"

	"github.com/orwl/go-orwl/resource"
)

// tile is a block with its memory. A resource holds the memory. A task that computes the tile
// holds the resource.
type tile struct {
	// The fields that a pass uses come first. A pass over a small block waits for memory that is elsewhere: so the
	// storage of a few fields is in fields.
	*shape
	grid   *Grid
	low    vec // the low corner of the block
	block  Block
	fields [8]storage
	watch  watch
	stop   int          // after how many sweeps a reduction ends the run; 0: that is not known
	ended  bool         // it has done the last pass
	done   atomic.Int64 // sweeps

	at   vec
	name string
	node int
	slot int // among the tiles of the node
	data *resource.Resource
	// For each stage that writes them, in are the cells that the tile imports from each neighbour, and out those
	// that each neighbour imports from the tile.
	in, out [][directions]border
	pieces  int     // tasks that take turns in a pass
	tallies []tally // of each reduction
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

// stored is the cells of a field that a tile keeps.
func (g *Grid) stored(f column, at vec) box { return g.reach(at).grown(f.reach()) }

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
