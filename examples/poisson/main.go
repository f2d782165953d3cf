// Conjugate gradients on a grid: the Poisson equation on a plate, A x = b. A is the Laplacian with x = 0 around the
// plate, and b is 1 in each cell.
//
//	go run ./examples/poisson
//	go run ./cmd/orwl run -n 2 go run ./examples/poisson
//
// The sums are exact: so the result has the same bits on any blocks and nodes, and the same number of sweeps.
package main

import (
	"context"
	"flag"
	"fmt"
	"math"

	_ "github.com/orwl/go-orwl/orwl/nodes" // for several nodes
	"github.com/orwl/go-orwl/orwl/stencil"
	"github.com/orwl/go-orwl/orwl/stencil/show"
)

const small = 1e-10 // of the first residual: the end
var laplace = []stencil.Weight{
	{Times: 4}, {At: []int{-1, 0}, Times: -1}, {At: []int{1, 0}, Times: -1}, {At: []int{0, -1}, Times: -1}, {At: []int{0, 1}, Times: -1},
}
var (
	side      = flag.Int("side", 256, "the plate has `N`×N cells")
	residuals = flag.Bool("residuals", false, "print the residual after each sweep, as a part of the first one")
)

func main() { show.Main(solve) }

func solve(ctx context.Context, r *show.Run) error {
	x := gradients(r.Grid(stencil.Options{Size: stencil.Size{*side, *side}}))
	if err := r.Sweep(ctx, 10**side, nil, show.Field(x)); err != nil || !r.Prints() {
		return err
	}
	cells, err := x.Values(ctx)
	if err == nil {
		fmt.Printf("%.9f in the middle\n", cells[len(cells)/2+*side/2])
	}
	return err
}

// gradients declares the stages that solve A x = b.
func gradients(g *stencil.Grid) *stencil.Field[float64] {
	plate := func(at []int) float64 { // 1 in its cells, and 0 around them
		if min(at[0], at[1]) < 0 || max(at[0], at[1]) >= *side {
			return 0
		}
		return 1
	}
	x := stencil.NewField(g, "x", stencil.FieldOptions[float64]{})
	r := stencil.NewField(g, "r", stencil.FieldOptions[float64]{Initial: plate})
	p := stencil.NewField(g, "p", stencil.FieldOptions[float64]{Halo: stencil.Around(1), Initial: plate})
	q := stencil.NewField(g, "q", stencil.FieldOptions[float64]{})
	first := float64(*side * *side) // r·r
	end := func(_ int, v float64) bool { return v <= small*small*first }
	tell := func(sweep int, v float64) {
		if *residuals {
			fmt.Printf("%d %.3e\n", sweep, math.Sqrt(v/first))
		}
	}
	pq := stencil.NewSum(g, "p·q", stencil.ReductionOptions{})
	rr := stencil.NewSum(g, "r·r", stencil.ReductionOptions{Start: first, Until: end, Result: tell})
	g.Stage(func(b *stencil.Block) { // q = A p
		stencil.Apply(b, q, p, 0, laplace)
		for row := range b.Rows() {
			pq.Dot(b, p.Old(row), q.New(row))
		}
	}, q, pq)
	alpha := func(b *stencil.Block) float64 { return rr.Before(b) / pq.Now(b) }
	g.Stage(func(b *stencil.Block) { // r -= α q
		stencil.Apply(b, r, q, 1, []stencil.Weight{{Times: -alpha(b)}})
		for row := range b.Rows() {
			rr.Dot(b, r.New(row), r.New(row))
		}
	}, r, rr).Reads(rr, pq)
	g.Stage(func(b *stencil.Block) { // x += α p, p = r + β p
		stencil.Apply(b, x, p, 1, []stencil.Weight{{Times: alpha(b)}})
		stencil.Apply(b, p, r, rr.Now(b)/rr.Before(b), []stencil.Weight{{Times: 1}})
	}, x, p).Reads(rr, pq)
	return x
}
