package stencil

import (
	"context"

	"github.com/orwl/go-orwl/handle"
)

// Snapshot is a field at one time of a run. Blocks near each other are of nearly the same sweep.
// A block is as it was between two exchanges with its neighbours, unless it has several stages:
// then its first rows may be ahead of its last ones by as many sweeps as there are between
// exchanges. See Options.Stages.
type Snapshot[T any] struct {
	// Cells are in the order of the grid. Those of other nodes are zero, unless
	// Options.Snapshots says that each node sees all.
	Cells []T
	// First and Last are the sweeps that the blocks have been through: the least and the
	// most.
	First, Last int
}

// Snapshot copies the field, block by block. With Options.Snapshots it does so while the run goes
// on: a block waits for as long as its copy takes, and the others go on. It is a relaxed access: no
// task of the run may call it that holds an access, so no kernel. On several nodes it fails with
// [orwl.ErrEarly] until the run has begun.
func (f *Field[T]) Snapshot(ctx context.Context) (s Snapshot[T], err error) {
	g := f.grid
	s = Snapshot[T]{Cells: make([]T, g.size.product()), First: -1}
	if f.options.Constant {
		f.constants(s.Cells)
	}
	var bytes []byte
	for _, t := range g.tiles {
		if t.node != g.rt.Node() && !g.o.Snapshots {
			continue
		}
		var version uint64
		if bytes, version, err = t.data.Snapshot(ctx, bytes[:0]); err != nil {
			return s, err
		}
		swept := g.sweptBy(t, version)
		if !f.options.Constant {
			f.copyOut(s.Cells, t, handle.ViewOf[T](bytes), swept)
		}
		if s.Last = max(s.Last, swept); s.First < 0 || swept < s.First {
			s.First = swept
		}
	}
	s.First = max(s.First, 0)
	return s, nil
}

// sweptBy is how many sweeps a tile has been through whose memory has been written so often:
// once with the initial values, and then in each stage.
func (g *Grid) sweptBy(t *tile, version uint64) int {
	return min(g.start+max(0, int(version)-1)/t.stages*g.tiling.sweeps, g.total)
}

// Values returns the cells of the field as they are after the run, in the order of the grid.
// Any node may ask for them until the nodes leave.
func (f *Field[T]) Values(ctx context.Context) ([]T, error) {
	values := make([]T, f.grid.size.product())
	if f.options.Constant {
		f.constants(values)
		return values, nil
	}
	for _, t := range f.grid.tiles {
		err := handle.ReadOnce(ctx, t.data, func(v handle.View[T]) error {
			f.copyOut(values, t, v, f.grid.swept())
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return values, nil
}

// constants computes the cells of a constant field once more.
func (f *Field[T]) constants(cells []T) { f.setInitial(newMemory[T](f.grid.domain()), cells) }

// copyOut copies the cells of a tile to their places in the whole grid. v is the tile's memory after so
// many sweeps.
func (f *Field[T]) copyOut(cells []T, t *tile, v handle.View[T], swept int) {
	m := t.block.memory[f.number].(*memory[T])
	whole := newMemory[T](f.grid.domain())
	begin := f.begin(t, swept)
	whole.eachRow(t.grid.result(t.at), func(at, n int) {
		from := begin + m.index(whole.place(at))
		v.Sub(from, from+n).Copy(cells[at : at+n])
	})
}

// begin is where the field's newest generation begins in the memory of a tile.
func (f *Field[T]) begin(t *tile, swept int) int {
	at := t.layout.at[f.number] / f.elementBytes()
	if f.generations() > 1 && swept&1 > 0 {
		at += t.block.memory[f.number].(*memory[T]).box.cells()
	}
	return at
}
