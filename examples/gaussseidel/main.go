// Gauss-Seidel's method on a plate, until no cell changes by more than a little. All blocks end
// after the same sweep, on any number of nodes.
//
//	go run ./examples/gaussseidel -plot plate.gif
package main

import (
	"context"
	"math"

	_ "github.com/orwl/go-orwl/orwl/nodes" // for several nodes
	"github.com/orwl/go-orwl/orwl/stencil"
	"github.com/orwl/go-orwl/orwl/stencil/show"
)

const little = 1e-4

func main() { show.Main(plate) }

// relax returns the greatest change.
func relax(cells, north, west, south, east []float64) (most float64) {
	before := west[0]
	for i, old := range cells {
		before = (north[i] + before + south[i] + east[i]) / 4
		cells[i] = before
		most = max(most, math.Abs(before-old))
	}
	return most
}

func plate(ctx context.Context, r *show.Run) error {
	g := r.Grid(stencil.Options{Size: stencil.Size{100, 100}, Update: stencil.InPlace})
	u := stencil.NewField(g, "u", stencil.FieldOptions[float64]{Halo: stencil.Around(1), Initial: func(at []int) float64 {
		if at[1] < 0 {
			return math.Sin(math.Pi * float64(at[0]) / 99)
		}
		return 0
	}})
	change := stencil.NewMax(g, "change", stencil.ReductionOptions{
		Every: 16,
		Lag:   16,
		Until: func(_ int, most float64) bool { return most <= little },
	})
	return r.Sweep(ctx, 10_000, func(b *stencil.Block) {
		most := 0.0
		for r := range b.Rows() {
			most = max(most, relax(u.New(r), u.Old(r, -1, 0), u.Old(r, 0, -1), u.Old(r, 1, 0), u.Old(r, 0, 1)))
		}
		change.Add(b, most)
	}, show.Field(u))
}
