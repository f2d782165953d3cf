// Pipelined conjugate gradients, by P. Ghysels and W. Vanroose (Parallel Computing 40, 2014, algorithm 3): the equation
// of examples/poisson. Each sweep needs the sums of the sweep before. They travel while the blocks multiply:
//
//	poisson      multiply  sum  step  sum  turn        two sums, and all wait for both
//	pipelined    multiply        step, turn            one round of sums, which travel meanwhile
//	             ╰── sums ──╯
//
// It takes more work for each cell, so it pays where messages are slow.
//
//	go run ./examples/pipelined
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

const small = 1e-6 // of the first residual: the end. The sums of this method lose the last digits

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

// gradients declares the stages that solve A x = b. The letters are the paper's.
func gradients(g *stencil.Grid) *stencil.Field[float64] {
	field := func(name string, o stencil.FieldOptions[float64]) *stencil.Field[float64] {
		return stencil.NewField(g, name, o)
	}
	ones := func([]int) float64 { return 1 }
	x, p, s, z, q := field("x", stencil.FieldOptions[float64]{}), field("p", stencil.FieldOptions[float64]{}),
		field("s", stencil.FieldOptions[float64]{}), field("z", stencil.FieldOptions[float64]{}), field("q", stencil.FieldOptions[float64]{})
	r := field("r", stencil.FieldOptions[float64]{Initial: ones})
	w := field("w", stencil.FieldOptions[float64]{Initial: ofOnes, Halo: stencil.Around(1)})

	first := float64(*side * *side) // r·r
	rr := stencil.NewSum(g, "r·r", stencil.ReductionOptions{
		Start: first,
		Until: func(_ int, v float64) bool { return v <= small*small*first },
		Result: func(sweep int, v float64) {
			if *residuals {
				fmt.Printf("%d %.3e\n", sweep, math.Sqrt(v/first))
			}
		},
	})
	wr := stencil.NewSum(g, "w·r", stencil.ReductionOptions{Start: 4 * float64(*side)})
	// All blocks compute the same two numbers, and read them one sweep later.
	last := stencil.NewMax(g, "r·r before", stencil.ReductionOptions{Start: math.Inf(1)})
	step := stencil.NewMax(g, "α", stencil.ReductionOptions{Start: 1})

	g.Stage(func(b *stencil.Block) { // q = A w
		for row := range b.Rows() {
			w0, q := w.Old(row), q.New(row)
			north, south, west, east := w.Old(row, -1, 0), w.Old(row, 1, 0), w.Old(row, 0, -1), w.Old(row, 0, 1)
			for i := range q {
				q[i] = 4*w0[i] - north[i] - south[i] - west[i] - east[i]
			}
		}
	}, q)
	g.Stage(func(b *stencil.Block) {
		gamma := rr.Before(b)
		beta := gamma / last.Before(b)
		alpha := gamma / (wr.Before(b) - float64(beta*gamma)/step.Before(b))
		last.Add(b, gamma)
		step.Add(b, alpha)
		for row := range b.Rows() {
			x, r, w, p, s, z, q := x.New(row), r.New(row), w.New(row), p.New(row), s.New(row), z.New(row), q.Old(row)
			for i := range x {
				z[i] = q[i] + float64(beta*z[i])
				s[i] = w[i] + float64(beta*s[i])
				p[i] = r[i] + float64(beta*p[i])
				x[i] += float64(alpha * p[i])
				r[i] -= float64(alpha * s[i])
				w[i] -= float64(alpha * z[i])
			}
			rr.Dot(b, r, r)
			wr.Dot(b, w, r)
		}
	}, x, r, w, p, s, z, rr, wr, last, step).Reads(rr, wr, last, step)
	return x
}

// ofOnes is A r, where r is 1 in each cell of the plate.
func ofOnes(at []int) (sum float64) {
	for _, n := range at {
		switch {
		case n < 0 || n >= *side:
			return 0
		case n == 0 || n == *side-1:
			sum++
		}
	}
	return sum
}
