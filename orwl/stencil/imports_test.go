package stencil

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// Blocks of one kind import alike, though the grid computes that for one of them.
func TestImportsByKind(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := &Grid{shapes: make(map[kind]*shape)}
		g.update = rapid.SampledFrom([]Update{Jacobi, InPlace}).Draw(t, "update")
		g.tiling.sweeps = rapid.IntRange(1, 3).Draw(t, "sweeps")
		g.size, g.blocks = vec{1, 1, 1}, vec{1, 1, 1}
		for i := 1; i < dims; i++ {
			g.halo.low[i] = rapid.IntRange(0, 2).Draw(t, "low")
			g.halo.high[i] = rapid.IntRange(0, 2).Draw(t, "high")
			g.blocks[i] = rapid.IntRange(1, 6).Draw(t, "blocks")
			g.size[i] = g.blocks[i]*6 + rapid.IntRange(0, 5).Draw(t, "more cells")
			g.around[i] = g.tiling.sweeps == 1 && rapid.Bool().Draw(t, "around")
		}
		for n := range g.blocks.product() {
			at := g.place(n)
			if got, want := g.shapeOf(at).imports, g.tiling.compute(at); !reflect.DeepEqual(got, want) {
				t.Fatalf("block %v imports %v, want %v", at, got, want)
			}
		}
	})
}
