package stencil

import (
	"context"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/internal/inner"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/internal/typed"
	"github.com/orwl/go-orwl/orwl/stencil/internal/inside"
)

// allowSnapshots lets snapshot copy whole fields on each node while the run goes on.
func (g *Grid) allowSnapshots() {
	g.snapshots = true
	for _, t := range g.tiles {
		inner.OfRuntime(g.rt).Snapshots(t.data)
	}
}

// snapshot copies the field, block by block.
func (f *Field[T]) snapshot(ctx context.Context) (s inside.Snapshot[T], err error) {
	g := f.grid
	s = inside.Snapshot[T]{Cells: make([]T, g.size.product()), First: -1}
	if !f.changes() {
		f.constants(s.Cells)
	}
	var bytes []byte
	for _, t := range g.tiles {
		if t.node != g.rt.Node() && !g.snapshots {
			continue
		}
		var version uint64
		if g.snapshots {
			bytes, version, err = inner.OfRuntime(g.rt).Snapshot(ctx, t.data, bytes[:0])
		} else {
			bytes, version, err = (*queue.Resource)(t.data).Copy(ctx, bytes[:0])
		}
		if err != nil {
			return s, err
		}
		swept := g.sweptBy(t, version)
		if f.changes() {
			f.copyOut(s.Cells, g.domain(), t, handle.View[T](typed.ViewOf[T](bytes)), swept)
		}
		if s.Last = max(s.Last, swept); s.First < 0 || swept < s.First {
			s.First = swept
		}
	}
	s.First = max(s.First, 0)
	return s, nil
}

// sweptBy counts the sweeps of a tile by the version of its memory. Tasks write it once with the initial values, and then
// in each piece.
func (g *Grid) sweptBy(t *tile, version uint64) int {
	return min(g.bound(max(0, int(version)-1)/t.pieces), g.swept())
}

// Values returns the cells of the field as they are after the run, in the order of the grid.
// Any node may ask for them until the nodes leave.
func (f *Field[T]) Values(ctx context.Context) ([]T, error) { return f.values(ctx, f.grid.domain()) }

// values returns the cells of a box.
func (f *Field[T]) values(ctx context.Context, b box) ([]T, error) {
	cells := make([]T, b.cells())
	if !f.changes() {
		f.setInitial(newMemory[T](b), cells)
		return cells, nil
	}
	if err := f.grid.learnEnd(ctx); err != nil {
		return nil, err
	}
	for _, t := range f.grid.tiles {
		if f.grid.result(t.at).common(b).empty() {
			continue
		}
		err := queue.Look(ctx, (*queue.Resource)(t.data), func(p *queue.Place) error {
			bytes, err := p.Bytes()
			if err == nil {
				f.copyOut(cells, b, t, handle.View[T](typed.ViewOf[T](bytes)), f.grid.swept())
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return cells, nil
}

// constants computes the cells of a constant field once more.
func (f *Field[T]) constants(cells []T) { f.setInitial(newMemory[T](f.grid.domain()), cells) }

// copyOut copies the cells of a tile to their places in a box. v is the memory of the tile after so many sweeps.
func (f *Field[T]) copyOut(cells []T, b box, t *tile, v handle.View[T], swept int) {
	m := t.block.memory[f.number].(*memory[T])
	to := newMemory[T](b)
	begin := f.begin(t, swept)
	to.eachRow(t.grid.result(t.at).common(b), func(at, n int) {
		from := begin + m.index(to.place(at))
		v.Sub(from, from+n).Copy(cells[at : at+n])
	})
}

// begin is the index at which the field's newest generation begins in the memory of a tile.
func (f *Field[T]) begin(t *tile, swept int) int {
	at := t.layout.at[f.number] / f.elementBytes()
	if f.generations() > 1 && swept&1 > 0 {
		at += t.block.memory[f.number].(*memory[T]).box.cells()
	}
	return at
}
