package stencil

// The sweeps of a pass go over the tile in bands of rows (or planes, in three dimensions). Each
// sweep is some rows behind the one before, because it needs the rows on its high side from
// that one:
//
//	band n of sweep 0      rows    n·h ... (n+1)·h-1
//	          sweep 1      rows -l+n·h ... (n+1)·h-1-l
//	          sweep 2      rows -2l+n·h ...
//
// So rows are swept several times while they are in the cache.

// bandBytes is how much of the fields a band has, about.
const bandBytes = 64 << 10

// sweep runs so many sweeps of a pass. done is how many the grid has been through before.
func (t *tile) sweep(done, sweeps int) {
	g := t.grid
	dim := dims - g.ranks
	lag := g.shift(dim)
	first := 0 // of the pass's regions
	if g.update == Jacobi {
		first = g.tiling.sweeps - sweeps
	}
	begin := g.region(t.at, first)
	end := begin.hull(g.region(t.at, first+sweeps-1)).high[dim]
	rows := t.band(begin, sweeps)
	for low := begin.low[dim]; low-(sweeps-1)*lag < end; low += rows {
		for s := range sweeps {
			part := g.region(t.at, first+s)
			part.low[dim] = max(part.low[dim], low-s*lag)
			part.high[dim] = min(part.high[dim], low-s*lag+rows)
			if part.empty() {
				continue
			}
			t.run(part, done+s, s == sweeps-1)
		}
	}
}

// run calls the kernel for some cells. last says that it is the last sweep before an exchange.
func (t *tile) run(cells box, sweep int, last bool) {
	for i, f := range t.grid.fields {
		f.bound(t.block.memory[i], sweep&1, sweep, cells)
	}
	t.block.cells, t.block.sweep, t.block.last = cells, sweep, last
	t.grid.kernel(&t.block)
}

// band is how many rows a band has.
func (t *tile) band(cells box, sweeps int) int {
	dim := dims - t.grid.ranks
	rows := cells.high[dim] - cells.low[dim]
	if sweeps == 1 {
		return rows
	}
	return max(1, min(rows, bandBytes*rows/t.layout.bytes))
}
