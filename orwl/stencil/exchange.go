package stencil

import "slices"

// exchange lists the cells that go from a tile to a neighbour before each pass: boxes of each field that changes. All
// pairs of tiles that look alike share one exchange, so a processor finds it in its cache. Places are relative to the low
// corner of the tile's block.
type exchange struct {
	strips []strip
	layout layout
}

// border is what a tile imports from a neighbour, or what it exports to one.
type border struct {
	*exchange          // nil if there is nothing to import or export
	faces     *[2]face // see [Grid.declareFaces]
}

// likeness has all that an exchange depends on. The importer is the tile itself, or the neighbour.
type likeness struct {
	stage    int // the stage writes the cells
	tile     kind
	importer kind
	corner   vec // the importer's block begins there
	from     direction
}

// exchange returns the cells that the importer takes over from a direction when a stage has ended. The importer is the
// tile itself, or a neighbour. corner is the low corner of its block, which may lie beyond a periodic edge. exchange
// returns nil if there are no such cells.
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

// imports lists the cells that a tile takes over from each neighbour before a pass, as boxes relative to the low corner
// of its block. The neighbour exports the same cells.
type imports [directions][]box

// compute cuts the cells around a block into boxes in which all cells are alike, and looks at one cell of each. Regions,
// and the cells that they read, begin and end only where two boxes meet.
func (t *tiling) compute(at vec) *imports {
	var cuts [dims][]int
	for s := range t.sweeps {
		r := t.region(at, s)
		g := r.grown(t.halo)
		for i := range dims {
			cuts[i] = append(cuts[i], r.low[i], r.high[i], g.low[i], g.high[i])
		}
	}
	for i := range dims {
		b := t.block(at)
		cuts[i] = append(cuts[i], b.low[i], b.high[i])
		slices.Sort(cuts[i])
		cuts[i] = slices.Compact(cuts[i])
	}
	all := new(imports)
	for z := range len(cuts[0]) - 1 {
		for y := range len(cuts[1]) - 1 {
			for x := range len(cuts[2]) - 1 {
				b := box{vec{cuts[0][z], cuts[1][y], cuts[2][x]}, vec{cuts[0][z+1], cuts[1][y+1], cuts[2][x+1]}}
				if d, ok := t.imported(at, b.low); ok {
					all[d] = append(all[d], b.moved(vec{}.minus(t.block(at).low)))
				}
			}
		}
	}
	for d := range all {
		for i := dims - 1; i >= 0; i-- {
			all[d] = merged(all[d], i)
		}
	}
	return all
}

// imported says from which neighbour a cell comes. ok is false if no neighbour sends it.
func (t *tiling) imported(at vec, c vec) (d direction, ok bool) {
	for i := range dims {
		if !t.around[i] && (c[i] < 0 || c[i] >= t.size[i]) {
			return 0, false
		}
	}
	d = t.source(at, c)
	if d == here {
		return 0, false
	}
	for s := range t.sweeps {
		if t.reads(at, s, c) {
			return d, true
		}
	}
	return 0, false
}

// merged joins boxes that continue each other in a dimension.
func merged(all []box, dim int) []box {
	ends := make(map[box]int, len(all)) // which box ends at a face
	var result []box
	for _, b := range all {
		begin, end := b, b
		begin.high[dim] = b.low[dim]
		end.low[dim] = b.high[dim]
		at, ok := ends[begin]
		if ok {
			delete(ends, begin)
			result[at].high[dim] = b.high[dim]
		} else {
			at = len(result)
			result = append(result, b)
		}
		ends[end] = at
	}
	return result
}

// cornerOf is the low corner of the neighbour in a direction. In a periodic dimension it is where the neighbour would be
// if the grid went on.
func (t *tiling) cornerOf(at vec, d direction) vec {
	low := t.block(at).low
	n, _ := t.neighbour(at, d)
	for i, step := range d.step() {
		switch step {
		case 1:
			low[i] = t.block(at).high[i]
		case -1:
			low[i] -= t.block(n).size()[i]
		}
	}
	return low
}
