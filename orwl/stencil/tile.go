package stencil

import (
	"fmt"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/resource"
)

// tile is a block with its memory. A resource holds the memory. A task that computes the tile
// holds the resource.
type tile struct {
	grid   *Grid
	at     vec
	name   string
	node   int
	slot   int // among the tiles of the node
	data   *resource.Resource
	layout layout
	block  Block
	in     [directions]exchange // what it imports from each neighbour
	out    [directions]exchange // what each neighbour imports from it
	flows  []any                // of each reduction
	stop   int                  // how many passes there are, if a reduction ends the run
}

// exchange is cells that go from a tile to a neighbour before each pass: boxes of each field
// that changes, in the coordinates of the one of the two that has the exchange.
type exchange struct {
	boxes  [][]box
	layout layout
	faces  *[2]*resource.Resource // see [Grid.declareFaces]; nil if nothing goes
}

// newTile lays out a tile, without its resources.
func (g *Grid) newTile(at vec) *tile {
	t := &tile{grid: g, at: at, name: g.o.Name + " " + g.blockName(at)}
	t.block = Block{tile: t}
	for _, f := range g.fields {
		cells := g.stored(f, at)
		t.block.memory = append(t.block.memory, f.newMemory(cells))
		t.layout.add(f.generations()*cells.cells(), f.elementBytes())
	}
	t.layout.end(g)
	for d := range direction(directions) {
		if n, ok := g.neighbour(at, d); ok && d != here {
			t.in[d] = g.newExchange(at, d, g.block(at).low)
			t.out[d] = g.newExchange(n, d.opposite(), g.corner(at, d))
		}
	}
	return t
}

// stored is the cells of a field that a tile keeps.
func (g *Grid) stored(f column, at vec) box { return g.reach(at).grown(f.reach()) }

// newExchange lays out what a tile imports from a direction, in coordinates in which the low
// corner of its block is low.
func (g *Grid) newExchange(at vec, d direction, low vec) (x exchange) {
	imports := g.importsOf(at)[d]
	by := low.minus(g.block(at).low)
	for _, f := range g.fields {
		var boxes []box
		cells := 0
		if f.changes() {
			room := g.stored(f, at).moved(by)
			for _, b := range imports {
				if b = b.moved(low).common(room); !b.empty() {
					boxes = append(boxes, b)
					cells += b.cells()
				}
			}
		}
		x.boxes = append(x.boxes, boxes)
		x.layout.add(cells*f.exchanged(), f.elementBytes())
	}
	for _, r := range g.reductions {
		messages := 0
		if g.beside(at, d) {
			messages = 1
		}
		x.layout.add(messages, r.elementBytes())
	}
	x.layout.end(g)
	return x
}

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

// nothing says that the exchange has no cells.
func (x *exchange) nothing() bool { return x.layout.bytes == 0 }

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

// bind finds the memory of the fields in the resource that the tile's task holds.
func (t *tile) bind(data handle.Grant) error {
	for i, f := range t.grid.fields {
		if err := f.bind(t.block.memory[i], data, t.layout.at[i]); err != nil {
			return err
		}
	}
	return nil
}

// load takes over what a neighbour has exported. sweeps is how many sweeps the tile has been
// through: the cells are of the generation that it ended with.
func (t *tile) load(x *exchange, from handle.Grant, sweeps int) error {
	for i, f := range t.grid.fields {
		at := x.layout.at[i]
		for g := range f.exchanged() {
			if at < 0 {
				break
			}
			next, err := f.load(t.block.memory[i], (sweeps+g)&1, x.boxes[i], from, at)
			if err != nil {
				return err
			}
			at = next
		}
	}
	return nil
}

// store exports to a neighbour.
func (t *tile) store(x *exchange, to handle.Grant, sweeps int) error {
	for i, f := range t.grid.fields {
		at := x.layout.at[i]
		for g := range f.exchanged() {
			if at < 0 {
				break
			}
			next, err := f.store(t.block.memory[i], (sweeps+g)&1, x.boxes[i], to, at)
			if err != nil {
				return err
			}
			at = next
		}
	}
	return nil
}
