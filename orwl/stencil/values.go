package stencil

import (
	"context"

	"github.com/orwl/go-orwl/handle"
)

// Values returns the cells of the field as they are after the run, in the order of the grid.
// Any node may ask for them until the nodes leave.
func (f *Field[T]) Values(ctx context.Context) ([]T, error) {
	g := f.grid
	values := make([]T, g.size.product())
	for _, t := range g.tiles {
		cells := t.result()
		m := t.block.memory[f.number].(*memory[T])
		at := (t.layout.at[f.number] + f.newest()*m.box.cells()*f.elementBytes()) / f.elementBytes()
		err := handle.ReadOnce(ctx, t.data, func(v handle.View[T]) error {
			whole := newMemory[T](g.domain())
			to := 0
			starts := make([]int, 0, cells.size()[0]*cells.size()[1])
			whole.eachRow(cells, func(at, _ int) { starts = append(starts, at) })
			m.eachRow(cells, func(from, n int) {
				v.Sub(at+from, at+from+n).Copy(values[starts[to] : starts[to]+n])
				to++
			})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return values, nil
}

// newest is the generation of the result.
func (f *Field[T]) newest() int {
	if f.generations() == 1 {
		return 0
	}
	return f.grid.swept() & 1
}

// result is the cells that the tile has computed last of all.
func (t *tile) result() box {
	g := t.grid
	swept := g.swept()
	if swept == 0 {
		return g.block(t.at)
	}
	last := (swept-1)%g.tiling.sweeps + 1
	return g.region(t.at, g.final(last))
}
