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

// bandRows is how many rows a band has at least: kernels may compute several together.
const bandRows = 4

// sweep runs a part of a stage of a pass of so many sweeps. done is how many the grid has been through
// before. The part is from one progress to another, see [tile.span].
func (t *tile) sweep(stage, done, sweeps, from, to int) {
	g := t.grid
	dim := g.slowest()
	lag := g.shift(dim)
	first := 0 // of the pass's regions
	if g.update == Jacobi {
		first = g.tiling.sweeps - sweeps
	}
	rows := t.band(from, to)
	for low := from; low < to; low += rows {
		high := min(low+rows, to)
		for s := first; s < first+sweeps; s++ {
			part := t.regions[s]
			part.low[dim] = max(part.low[dim], low-s*lag)
			part.high[dim] = min(part.high[dim], high-s*lag)
			if !part.empty() {
				t.run(stage, part.moved(t.low), done+s-first)
			}
		}
	}
}

// run calls the kernel of a stage for some cells.
func (t *tile) run(stage int, cells box, sweep int) {
	if t.grid.mirrored != [dims]bool{} {
		for _, i := range t.grid.changing {
			t.grid.fields[i].mirror(t.block.memory[i], sweep&1, cells)
		}
	}
	t.block.stage, t.block.cells, t.block.sweep = stage, cells, sweep
	t.grid.stages[stage].kernel(&t.block)
}

// band is how many rows a band of a part has.
func (t *tile) band(from, to int) int {
	if t.grid.tiling.sweeps == 1 || t.bytes == 0 {
		return to - from
	}
	dim := t.grid.slowest()
	rows := t.grid.block(t.at).size()[dim]
	return max(1, min(bandRows, rows), min(rows, bandBytes*rows/t.bytes))
}
