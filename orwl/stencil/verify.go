package stencil

import (
	"bytes"
	"context"
	"fmt"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/internal/typed"
	"github.com/orwl/go-orwl/resource"
)

// Verify compares this node's blocks, bit for bit, with the result of a sequential sweep over the whole grid. It computes
// that with the same kernel, and needs memory for the whole grid. Call it after the run, before the nodes leave. Its
// error names the first cell that differs. The cause is then a Halo that is too small, Corners that is not set, or a
// kernel that keeps state.
func (g *Grid) Verify(ctx context.Context) error {
	if err := g.learnEnd(ctx); err != nil {
		return err
	}
	whole := g.sequential()
	r, err := resource.New(g.o.Name+", sequential", whole.layout.bytes)
	if err != nil {
		return err
	}
	return section(r, func(data []byte) error {
		if err := whole.compute(ctx, data, g.swept()); err != nil {
			return err
		}
		want := handle.View[byte](typed.ViewOf[byte](data))
		for _, t := range g.tiles {
			if t.node != g.rt.Node() {
				continue
			}
			err := queue.Look(ctx, (*queue.Resource)(t.data), func(p *queue.Place) error {
				got, err := p.Bytes()
				if err != nil {
					return err
				}
				return t.compare(handle.View[byte](typed.ViewOf[byte](got)), whole, want)
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// sequential is a tile that is the whole grid.
func (g *Grid) sequential() *tile {
	one := &Grid{
		shapes: make(map[kind]*shape), exchanges: make(map[likeness]*exchange), rt: g.rt, o: g.o, ranks: g.ranks,
		fields: g.fields, changing: g.changing, reductions: g.reductions, stages: g.stages, tiling: g.tiling, mirrored: g.mirrored,
	}
	one.blocks = vec{1, 1, 1}
	one.tiling.sweeps = 1
	return one.newTile(vec{})
}

// compute sweeps the whole grid so many times.
func (t *tile) compute(ctx context.Context, data []byte, sweeps int) error {
	g := t.grid
	t.bind(data)
	for i, f := range g.fields {
		f.fill(t.block.memory[i])
	}
	for sweep := range sweeps {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for i := range t.tallies {
			t.tallies[i].before = t.tallies[i].now
		}
		for stage := range g.stages {
			t.computeStage(stage, sweep)
		}
	}
	return nil
}

// computeStage computes a stage of a sweep over the whole grid. With several stages it goes from the last row to the
// first one. So a kernel that reads a field around a cell and writes it there gives another result.
func (t *tile) computeStage(stage, sweep int) {
	g := t.grid
	for i, f := range g.fields {
		f.wrap(t.block.memory[i], sweep&1, g.domain())
	}
	switch {
	case g.update == InPlace && g.around != [dims]bool{}:
		t.cellByCell(sweep)
	case len(g.stages) > 1:
		for n := g.size[0]*g.size[1] - 1; n >= 0; n-- {
			low := vec{n / g.size[1], n % g.size[1], 0}
			t.run(stage, box{low, low.plus(vec{1, 1, g.size[2]})}, sweep)
		}
	default:
		t.run(stage, g.domain(), sweep)
	}
	for i, r := range g.reductions {
		if r.stage() == stage {
			of := &t.tallies[i]
			of.now, of.partial = of.value(r), empty()
		}
	}
}

// cellByCell is a sweep in place over a periodic grid. It copies each new cell across the edge at once.
func (t *tile) cellByCell(sweep int) {
	g := t.grid
	for n := range g.size.product() {
		c := vec{n / g.size[2] / g.size[1], n / g.size[2] % g.size[1], n % g.size[2]}
		cell := box{c, c.plus(vec{1, 1, 1})}
		t.run(0, cell, sweep)
		for i, f := range g.fields {
			f.wrap(t.block.memory[i], sweep&1, cell)
		}
	}
}

// wrap copies cells of a box across the edges of a periodic grid.
func (f *Field[T]) wrap(in storage, generation int, b box) {
	g := f.grid
	m := in.(*memory[T])
	cells := m.cells[generation]
	for d := range direction(directions) {
		by, ok := g.image(d)
		if !ok || d == here {
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

// image is how far away the grid repeats in a direction. ok is false if it does not repeat there.
func (g *Grid) image(d direction) (by vec, ok bool) {
	by = d.step()
	for i, n := range g.size {
		if by[i] != 0 && !g.around[i] {
			return by, false
		}
		by[i] *= n
	}
	return by, true
}

// compare finds the first cell of the tile that differs from the whole grid's.
func (t *tile) compare(got handle.View[byte], whole *tile, want handle.View[byte]) error {
	for _, f := range t.grid.fields {
		if !f.changes() {
			continue
		}
		if at, same := f.same(t, got, whole, want); !same {
			return fmt.Errorf("stencil: the result differs from the sequential sweep's: field %q in cell %s after %d sweeps", f.title(), t.grid.blockName(at), t.grid.swept())
		}
	}
	return nil
}

// same compares the newest generation in the memories of two tiles. It looks at the cells that no tile has computed after
// the first one.
func (f *Field[T]) same(t *tile, got handle.View[byte], whole *tile, want handle.View[byte]) (at vec, same bool) {
	size, swept := f.elementBytes(), t.grid.swept()
	m, w := t.block.memory[f.number].(*memory[T]), whole.block.memory[f.number].(*memory[T])
	m0, w0 := f.begin(t, swept), f.begin(whole, swept)
	x, y := make([]byte, size), make([]byte, size)
	same = true
	m.eachRow(t.grid.result(t.at), func(row, n int) {
		for i := row; same && i < row+n; i++ {
			at = m.place(i)
			got.Sub((m0+i)*size, (m0+i+1)*size).Copy(x)
			j := w0 + w.index(at)
			want.Sub(j*size, (j+1)*size).Copy(y)
			same = bytes.Equal(x, y)
		}
	})
	return at, same
}
