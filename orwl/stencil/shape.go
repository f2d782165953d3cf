package stencil

// kind is all of a block's place that its shape depends on.
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

// shape is what the tiles of all blocks of a kind have in common. Places are relative to the low
// corner of the block.
type shape struct {
	imports *imports
	regions []box  // by sweep of a pass: the cells that it computes
	layout  layout // of the fields that change, in the tile's resource
	bytes   int    // of all fields
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
		s.layout.add(n, f.elementBytes())
	}
	s.layout.end(g)
	return s
}
