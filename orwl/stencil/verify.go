package stencil

import (
	"bytes"
	"context"
	"fmt"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/resource"
)

// Verify compares this node's blocks, bit for bit, with the result of a sequential sweep over
// the whole grid. It computes that with the same kernel, in memory for the whole grid. Call it
// after the run, before the nodes leave. A difference matches [ErrDiffers].
func (g *Grid) Verify(ctx context.Context) error {
	whole := g.sequential()
	r, err := resource.New(g.o.Name+", sequential", whole.layout.bytes)
	if err != nil {
		return err
	}
	return section(r, func(data handle.Grant) error {
		if err := whole.compute(ctx, data, g.swept()); err != nil {
			return err
		}
		want, err := handle.Read[byte](data)
		if err != nil {
			return err
		}
		for _, t := range g.tiles {
			if t.node != g.rt.Node() {
				continue
			}
			err := handle.ReadOnce(ctx, t.data, func(got handle.View[byte]) error { return t.compare(got, whole, want) })
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// sequential is a tile that is the whole grid.
func (g *Grid) sequential() *tile {
	one := &Grid{rt: g.rt, o: g.o, ranks: g.ranks, fields: g.fields, tiling: g.tiling, kernel: g.kernel}
	one.blocks = vec{1, 1, 1}
	one.tiling.sweeps = 1
	return one.newTile(vec{})
}

// compute sweeps the whole grid so many times.
func (t *tile) compute(ctx context.Context, data handle.Grant, sweeps int) error {
	g := t.grid
	if err := t.bind(data); err != nil {
		return err
	}
	for i, f := range g.fields {
		f.fill(t.block.memory[i])
	}
	for sweep := range sweeps {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for i, f := range g.fields {
			f.wrap(t.block.memory[i], sweep&1, g.domain())
		}
		if g.update == InPlace && g.around != [dims]bool{} {
			t.cellByCell(sweep)
		} else {
			t.run(g.domain(), sweep, true)
		}
	}
	return nil
}

// cellByCell is a sweep in place over a periodic grid: a cell that was computed is at once seen
// across the edge.
func (t *tile) cellByCell(sweep int) {
	g := t.grid
	for n := range g.size.product() {
		c := vec{n / g.size[2] / g.size[1], n / g.size[2] % g.size[1], n % g.size[2]}
		cell := box{c, c.plus(vec{1, 1, 1})}
		t.run(cell, sweep, true)
		for i, f := range g.fields {
			f.wrap(t.block.memory[i], sweep&1, cell)
		}
	}
}

// wrap copies cells of a box to where they are seen across the edges of a periodic grid.
func (f *Field[T]) wrap(in any, generation int, b box) {
	g := f.grid
	m := in.(*memory[T])
	cells := m.cells[generation]
	for d := range direction(directions) {
		by := d.step()
		inside := d != here
		for i, n := range g.size {
			inside = inside && (by[i] == 0 || g.around[i])
			by[i] *= n
		}
		if !inside {
			continue
		}
		to := b.moved(by).common(m.box)
		if to.empty() {
			continue
		}
		m.eachRow(to, func(at, n int) {
			from := at - by[0]*m.plane - by[1]*m.row - by[2]
			copy(cells[at:at+n], cells[from:from+n])
		})
	}
}

// compare finds the first cell of the tile that differs from that of the whole grid.
func (t *tile) compare(got handle.View[byte], whole *tile, want handle.View[byte]) error {
	for i, f := range t.grid.fields {
		if !f.changes() {
			continue
		}
		if at, same := f.same(t.block.memory[i], got, t.layout.at[i], whole.block.memory[i], want, whole.layout.at[i], t.result()); !same {
			return fmt.Errorf("%w: field %q in cell %s after %d sweeps", ErrDiffers, f.title(), t.grid.blockName(at), t.grid.swept())
		}
	}
	return nil
}

// same compares the newest generation of a box in the memories of two tiles, whose fields begin
// at a byte of theirs.
func (f *Field[T]) same(a any, got handle.View[byte], atA int, b any, want handle.View[byte], atB int, cells box) (vec, bool) {
	m, w := a.(*memory[T]), b.(*memory[T])
	size := f.elementBytes()
	x, y := make([]byte, size), make([]byte, size)
	read := func(m *memory[T], v handle.View[byte], at int, c vec, to []byte) {
		from := at + (f.newest()*m.box.cells()+m.index(c))*size
		v.Sub(from, from+size).Copy(to)
	}
	for z := cells.low[0]; z < cells.high[0]; z++ {
		for y0 := cells.low[1]; y0 < cells.high[1]; y0++ {
			for x0 := cells.low[2]; x0 < cells.high[2]; x0++ {
				c := vec{z, y0, x0}
				read(m, got, atA, c, x)
				read(w, want, atB, c, y)
				if !bytes.Equal(x, y) {
					return c, false
				}
			}
		}
	}
	return vec{}, true
}
