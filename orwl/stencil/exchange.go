package stencil

import "github.com/orwl/go-orwl/handle"

// exchange is cells that go from a tile to a neighbour before each pass: boxes of each field
// that changes, in the coordinates of the one of the two that has the exchange.
type exchange struct {
	boxes  [][]box
	layout layout
	faces  *[2]face // see [Grid.declareFaces]; nil if nothing goes
}

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

// nothing says that the exchange has no cells.
func (x *exchange) nothing() bool { return x.layout.bytes == 0 }

// each calls copy for each field that has cells in the exchange, and each generation of it that
// goes: with the byte at which it begins. copy returns where the next begins.
func (x *exchange) each(g *Grid, copy func(i int, f column, generation, at int) (next int, err error)) error {
	for i, f := range g.fields {
		at := x.layout.at[i]
		if at < 0 {
			continue
		}
		for generation := range f.exchanged() {
			next, err := copy(i, f, generation, at)
			if err != nil {
				return err
			}
			at = next
		}
	}
	return nil
}

// load takes over what a neighbour has exported. sweeps is how many sweeps the tile has been
// through: the cells are of the generation that it ended with.
func (t *tile) load(x *exchange, from handle.Grant, sweeps int) error {
	return x.each(t.grid, func(i int, f column, generation, at int) (int, error) {
		return f.load(t.block.memory[i], (sweeps+generation)&1, x.boxes[i], from, at)
	})
}

// store exports to a neighbour.
func (t *tile) store(x *exchange, to handle.Grant, sweeps int) error {
	return x.each(t.grid, func(i int, f column, generation, at int) (int, error) {
		return f.store(t.block.memory[i], (sweeps+generation)&1, x.boxes[i], to, at)
	})
}

// export is store for a task that reads the tile.
func (t *tile) export(x *exchange, data, to handle.Grant, sweeps int) error {
	return x.each(t.grid, func(i int, f column, generation, at int) (int, error) {
		return f.export(t.block.memory[i], data, t.layout.at[i], (sweeps+generation)&1, x.boxes[i], to, at)
	})
}

func (f *Field[T]) load(in any, generation int, boxes []box, from handle.Grant, at int) (int, error) {
	v, err := handle.Read[T](from)
	if err != nil {
		return 0, err
	}
	m := in.(*memory[T])
	cells := m.cells[generation]
	at /= f.elementBytes()
	for _, b := range boxes {
		m.eachRow(b, func(to, n int) {
			if n == 1 { // of a column
				cells[to] = v.At(at)
			} else {
				v.Sub(at, at+n).Copy(cells[to : to+n])
			}
			at += n
		})
	}
	return at * f.elementBytes(), nil
}

func (f *Field[T]) store(in any, generation int, boxes []box, to handle.Grant, at int) (int, error) {
	all, err := handle.Write[T](to)
	if err != nil {
		return 0, err
	}
	m := in.(*memory[T])
	cells := m.cells[generation]
	at /= f.elementBytes()
	for _, b := range boxes {
		m.eachRow(b, func(from, n int) {
			if n == 1 {
				all[at] = cells[from]
			} else {
				copy(all[at:at+n], cells[from:from+n])
			}
			at += n
		})
	}
	return at * f.elementBytes(), nil
}

func (f *Field[T]) export(in any, data handle.Grant, begin, generation int, boxes []box, to handle.Grant, at int) (int, error) {
	v, err := handle.Read[T](data)
	if err != nil {
		return 0, err
	}
	all, err := handle.Write[T](to)
	if err != nil {
		return 0, err
	}
	m := in.(*memory[T])
	begin /= f.elementBytes()
	if f.generations() > 1 {
		begin += generation * m.box.cells()
	}
	at /= f.elementBytes()
	for _, b := range boxes {
		m.eachRow(b, func(from, n int) {
			v.Sub(begin+from, begin+from+n).Copy(all[at : at+n])
			at += n
		})
	}
	return at * f.elementBytes(), nil
}
