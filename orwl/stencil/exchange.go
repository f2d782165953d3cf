package stencil

// exchange is cells that go from a tile to a neighbour before each pass: boxes of each field
// that changes. All pairs of tiles that look alike have one in common, so a tile finds it in the
// cache. Places are relative to the low corner of the tile's block.
type exchange struct {
	strips []strip
	layout layout
}

// border is what a tile imports from a neighbour, or what it exports to one.
type border struct {
	*exchange          // nil: nothing
	faces     *[2]face // see [Grid.declareFaces]
}

// likeness is all that an exchange depends on. The importer is the tile itself, or the neighbour.
type likeness struct {
	stage    int // that writes
	tile     kind
	importer kind
	corner   vec // of the importer's block
	from     direction
}

// exchange is what the tile itself, or a neighbour, takes over from a direction when a stage has ended. The importer's
// block has its low corner there, which may be beyond a periodic edge. It is nil if that is nothing.
func (t *tile) exchange(stage int, importer, corner vec, from direction) *exchange {
	g := t.grid
	l := likeness{stage, g.kindOf(t.at), g.kindOf(importer), corner.minus(t.low), from}
	x, known := g.exchanges[l]
	if !known {
		x = t.newExchange(importer, l)
		g.exchanges[l] = x
	}
	return x
}

func (t *tile) newExchange(importer vec, l likeness) *exchange {
	g, x := t.grid, new(exchange)
	imports := g.shapeOf(importer).imports[l.from]
	for i, f := range g.fields {
		var boxes []box
		cells := 0
		if f.writtenIn(l.stage) {
			room := g.stored(f, importer).moved(vec{}.minus(g.block(importer).low))
			for _, b := range imports {
				if b = b.common(room); !b.empty() {
					boxes = append(boxes, b.moved(l.corner))
					cells += b.cells()
				}
			}
		}
		x.layout.add(cells*f.exchanged(), f.elementBytes())
		begin := x.layout.at[i] / f.elementBytes()
		for back := range f.exchanged() {
			for _, b := range boxes {
				x.strips = append(x.strips, strip{
					box: b, field: i, back: back, at: begin,
					planes: b.size()[0], rows: b.size()[1], length: b.size()[2],
					first: t.block.memory[i].index(b.low.plus(t.low)),
				})
				begin += b.cells()
			}
		}
	}
	x.layout.end(g)
	if x.layout.bytes == 0 {
		return nil
	}
	return x
}
