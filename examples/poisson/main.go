package main

import (
	"context"
	"flag"
	"fmt"
	"log"

	"github.com/orwl/go-orwl/orwl"
	_ "github.com/orwl/go-orwl/orwl/nodes" // for several nodes
	"github.com/orwl/go-orwl/orwl/stencil"
)

const small = 1e-10 // of the first residual: the end
var laplace = stencil.Weights{
	{Times: 4}, {At: stencil.At{-1, 0}, Times: -1}, {At: stencil.At{1, 0}, Times: -1}, {At: stencil.At{0, -1}, Times: -1}, {At: stencil.At{0, 1}, Times: -1},
}
var side = flag.Int("side", 256, "the plate has `N`×N cells")

func main() {
	flag.Parse()
	if err := orwl.Run(context.Background(), orwl.Options{}, solve); err != nil {
		log.Fatal(err)
	}
}

func solve(ctx context.Context, rt *orwl.Runtime) error {
	g := stencil.New(rt, stencil.Options{Size: stencil.Size{*side, *side}})
	x := gradients(g)
	if err := g.Sweep(10 * *side); err != nil {
		return err
	}
	if err := rt.Run(ctx); err != nil {
		return err
	}
	cells, err := x.Values(ctx)
	fmt.Printf("%v, %d sweeps, %.9f in the middle\n", g, g.Sweeps(), cells[len(cells)/2+*side/2])
	return err
}

// gradients declares the stages that solve A x = b.
func gradients(g *stencil.Grid) *stencil.Field[float64] {
	ones, zero := func([]int) float64 { return 1 }, func(int, []int) float64 { return 0 }
	x := stencil.NewField(g, "x", stencil.FieldOptions[float64]{})
	r := stencil.NewField(g, "r", stencil.FieldOptions[float64]{Initial: ones})
	p := stencil.NewField(g, "p", stencil.FieldOptions[float64]{Initial: ones, Boundary: zero, Weights: laplace})
	q := stencil.NewField(g, "q", stencil.FieldOptions[float64]{})
	first := float64(*side * *side) // r·r
	end := func(_ int, v float64) bool { return v <= small*small*first }
	pq := stencil.NewSum(g, "p·q", stencil.ReductionOptions{})
	rr := stencil.NewSum(g, "r·r", stencil.ReductionOptions{Start: first, Until: end})
	g.Stage(func(b *stencil.Block) { // q = A p
		laplace.Apply(b, q, p)
		for row := range b.Rows() {
			pq.Dot(b, p.Old(row), q.New(row))
		}
	}, q, pq)
	g.Stage(func(b *stencil.Block) { // x += α p, r -= α q
		alpha := rr.Before(b) / pq.Now(b)
		for row := range b.Rows() {
			x, r, p, q := x.New(row), r.New(row), p.Old(row), q.Old(row)
			for i := range x {
				x[i] += float64(alpha * p[i])
				r[i] -= float64(alpha * q[i])
			}
			rr.Dot(b, r, r)
		}
	}, x, r, rr).Before(rr).Now(pq)
	g.Stage(func(b *stencil.Block) { // p = r + β p
		beta := rr.Now(b) / rr.Before(b)
		for row := range b.Rows() {
			p, r := p.New(row), r.Old(row)
			for i := range p {
				p[i] = r[i] + float64(beta*p[i])
			}
		}
	}, p).Before(rr).Now(rr)
	return x
}
