package stencil

// exchange is cells that go from a tile to a neighbour before each pass: boxes of each field
// that changes, in the coordinates of the one of the two that has the exchange.
type exchange struct {
	moves  []move
	layout layout
	faces  *[2]face // see [Grid.declareFaces]
}

// move is a box of a field that goes from a tile to a face, or back. See [strip], too.
type move struct {
	field int
	back  int // 0: the newest generation; 1: the one before
	at    int // element of the face
	box   box
}

// newExchange lays out what a tile imports from a direction, in coordinates in which the low
// corner of its block is low. It is nil if there is nothing to import.
func (g *Grid) newExchange(at vec, d direction, low vec) *exchange {
	x := new(exchange)
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
		begin := x.layout.at[i] / f.elementBytes()
		for back := range f.exchanged() {
			for _, b := range boxes {
				x.moves = append(x.moves, move{field: i, back: back, at: begin, box: b})
				begin += b.cells()
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
	if x.layout.bytes == 0 {
		return nil
	}
	return x
}

// strips prepares the moves of an exchange.
func (t *tile) strips(x *exchange) []strip {
	all := make([]strip, len(x.moves))
	for i := range x.moves {
		all[i] = t.block.memory[x.moves[i].field].strip(&x.moves[i])
	}
	return all
}
