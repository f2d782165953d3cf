package stencil

import "github.com/orwl/go-orwl/handle"

// exchange is cells that go from a tile to a neighbour before each pass: boxes of each field
// that changes, in the coordinates of the one of the two that has the exchange.
type exchange struct {
	moves  []move
	layout layout
	faces  *[2]face // see [Grid.declareFaces]; nil if nothing goes
}

// move is a box of a field that goes from a tile to a face, or back.
type move struct {
	field int
	back  int // 0: the newest generation; 1: the one before
	at    int // byte of the face
	box   box
}

// newExchange lays out what a tile imports from a direction, in coordinates in which the low
// corner of its block is low.
func (g *Grid) newExchange(at vec, d direction, low vec) (x exchange) {
	imports := g.importsOf(at)[d]
	by := low.minus(g.block(at).low)
	for i, f := range g.fields {
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
		x.layout.add(cells*f.exchanged(), f.elementBytes())
		begin := x.layout.at[i]
		for back := range f.exchanged() {
			for _, b := range boxes {
				x.moves = append(x.moves, move{field: i, back: back, at: begin, box: b})
				begin += b.cells() * f.elementBytes()
			}
		}
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

// nothing says that the exchange has no cells.
func (x *exchange) nothing() bool { return x.layout.bytes == 0 }

// load takes over what a neighbour has exported. sweeps is how many sweeps the tile has been
// through: the cells are of the generation that it ended with.
func (t *tile) load(moves []move, from handle.Grant, sweeps int) error {
	for i := range moves {
		m := &moves[i]
		if err := t.grid.fields[m.field].load(t.block.memory[m.field], m, sweeps, from); err != nil {
			return err
		}
	}
	return nil
}

// store exports to a neighbour.
func (t *tile) store(moves []move, to handle.Grant, sweeps int) error {
	for i := range moves {
		m := &moves[i]
		if err := t.grid.fields[m.field].store(t.block.memory[m.field], m, sweeps, to); err != nil {
			return err
		}
	}
	return nil
}

// export is store for a task that reads the tile.
func (t *tile) export(moves []move, data, to handle.Grant, sweeps int) error {
	for i := range moves {
		m := &moves[i]
		if err := t.grid.fields[m.field].export(t.block.memory[m.field], data, t.layout.at[m.field], m, sweeps, to); err != nil {
			return err
		}
	}
	return nil
}

func (f *Field[T]) load(in any, move *move, sweeps int, from handle.Grant) error {
	v, err := handle.Read[T](from)
	if err != nil {
		return err
	}
	m := in.(*memory[T])
	cells, b, at := m.cells[(sweeps+move.back)&1], &move.box, move.at/f.elementBytes()
	n := b.high[2] - b.low[2]
	for z := b.low[0]; z < b.high[0]; z++ {
		to := m.index(vec{z, b.low[1], b.low[2]})
		for range b.high[1] - b.low[1] {
			if n == 1 { // of a column
				cells[to] = v.At(at)
			} else {
				v.Sub(at, at+n).Copy(cells[to : to+n])
			}
			at, to = at+n, to+m.row
		}
	}
	return nil
}

func (f *Field[T]) store(in any, move *move, sweeps int, to handle.Grant) error {
	all, err := handle.Write[T](to)
	if err != nil {
		return err
	}
	m := in.(*memory[T])
	cells, b, at := m.cells[(sweeps+move.back)&1], &move.box, move.at/f.elementBytes()
	n := b.high[2] - b.low[2]
	for z := b.low[0]; z < b.high[0]; z++ {
		from := m.index(vec{z, b.low[1], b.low[2]})
		for range b.high[1] - b.low[1] {
			if n == 1 {
				all[at] = cells[from]
			} else {
				copy(all[at:at+n], cells[from:from+n])
			}
			at, from = at+n, from+m.row
		}
	}
	return nil
}

func (f *Field[T]) export(in any, data handle.Grant, begin int, move *move, sweeps int, to handle.Grant) error {
	v, err := handle.Read[T](data)
	if err != nil {
		return err
	}
	all, err := handle.Write[T](to)
	if err != nil {
		return err
	}
	m := in.(*memory[T])
	begin /= f.elementBytes()
	if f.generations() > 1 {
		begin += (sweeps + move.back) & 1 * m.box.cells()
	}
	at := move.at / f.elementBytes()
	m.eachRow(move.box, func(from, n int) {
		v.Sub(begin+from, begin+from+n).Copy(all[at : at+n])
		at += n
	})
	return nil
}
