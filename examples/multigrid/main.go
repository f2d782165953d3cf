// A geometric multigrid: V-cycles solve the Poisson equation on a plate. A coarse level is every second row and column of the level
// above, in fields of the same grid. So the levels lie in the same blocks, and exchange by stages as any field does.
//
//	go run ./examples/multigrid
//	go run ./cmd/orwl run -n 2 go run ./examples/multigrid -side 127
//
// A sweep of the grid is a V-cycle. The result has the same bits on any blocks and nodes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"

	_ "github.com/orwl/go-orwl/orwl/nodes" // for several nodes
	"github.com/orwl/go-orwl/orwl/stencil"
	"github.com/orwl/go-orwl/orwl/stencil/show"
)

const (
	small  = 1e-10 // of the first residual: the end
	bottom = 8     // the coarsest level has 7×7 points
	solves = 6     // so many relaxations solve it well enough
)

var side = flag.Int("side", 255, "the plate has `N`×N cells: 15, 31, 63, 127, ...")

var laplace = []stencil.Weight{
	{Times: 4}, {At: []int{-1, 0}, Times: -1}, {At: []int{1, 0}, Times: -1}, {At: []int{0, -1}, Times: -1}, {At: []int{0, 1}, Times: -1},
}

func main() { show.Main(solve) }

func solve(ctx context.Context, r *show.Run) error {
	if n := *side + 1; n <= bottom || n&(n-1) != 0 {
		return errors.New("-side: want 15, 31, 63, 127 or so")
	}
	u := cycle(r.Grid(stencil.Options{Size: stencil.Size{*side, *side}}))
	return r.Sweep(ctx, 100, nil, show.Field(u))
}

// level is the points whose row and column, counted from 1, are multiples of a step. They are red and black as on a chessboard. On
// each level A u = f, where A is the Laplacian of its points.
type level struct {
	*stencil.Grid
	step int
	u, f *stencil.Field[float64]
}

// first is the index of the first point of a colour in a row: 0 is red. It is beyond the row if that has no points.
func (l level) first(r stencil.Row, colour int) int {
	row, column := r.At(0)+1, r.At(1)+1
	if row%l.step > 0 {
		return math.MaxInt
	}
	i := (l.step - column%l.step) % l.step
	return i + ((row+column+i)/l.step+colour)%2*l.step
}

// around are the rows beside the points of a row, and its own row moved by a step to both sides.
func (l level) around(r stencil.Row) (north, south, west, east []float64) {
	return l.u.Old(r, -l.step, 0), l.u.Old(r, l.step, 0), l.u.Old(r, 0, -l.step), l.u.Old(r, 0, l.step)
}

// relax declares two stages: they change the red points and then the black ones towards the solution.
func (l level) relax(omega float64) {
	for colour := range 2 {
		l.Stage(func(b *stencil.Block) {
			for r := range b.Rows() {
				u, f := l.u.New(r), l.f.Old(r)
				north, south, west, east := l.around(r)
				for i := l.first(r, colour); i < len(u); i += 2 * l.step {
					u[i] += float64(omega * ((f[i]+north[i]+south[i]+west[i]+east[i])/4 - u[i]))
				}
			}
		}, l.u)
	}
}

// restrict declares the stage that begins a coarser level with what is left of f. All its points are red ones of this level, and the
// black ones have nothing left: so it takes half of the residual, and the square of the step is four times as large.
func (l level) restrict(to level) {
	l.Stage(func(b *stencil.Block) {
		for r := range b.Rows() {
			u, f, next, left := l.u.Old(r), l.f.Old(r), to.u.New(r), to.f.New(r)
			north, south, west, east := l.around(r)
			for i := min(to.first(r, 0), to.first(r, 1)); i < len(u); i += to.step {
				next[i], left[i] = 0, 2*(f[i]+north[i]+south[i]+west[i]+east[i]-4*u[i])
			}
		}
	}, to.u, to.f)
}

// correct declares the stage that adds the solution of a coarser level to the black points, each between two of its points. The next
// stage computes the red ones from these.
func (l level) correct(from level) {
	l.Stage(func(b *stencil.Block) {
		for r := range b.Rows() {
			u, low, high := l.u.New(r), from.u.Old(r, -l.step, 0), from.u.Old(r, l.step, 0)
			if (r.At(0)+1)%from.step == 0 {
				low, high = from.u.Old(r, 0, -l.step), from.u.Old(r, 0, l.step)
			}
			for i := l.first(r, 1); i < len(u); i += 2 * l.step {
				u[i] += (low[i] + high[i]) / 2
			}
		}
	}, l.u)
}

// cycle declares the stages of a V-cycle.
func cycle(g *stencil.Grid) *stencil.Field[float64] {
	var levels []level
	for step := 1; bottom*step <= *side+1; step *= 2 {
		u := stencil.NewField(g, fmt.Sprint("u ", step), stencil.FieldOptions[float64]{Halo: stencil.Around(step)})
		f := stencil.NewField(g, fmt.Sprint("f ", step), stencil.FieldOptions[float64]{Initial: func([]int) float64 { return 1 }})
		levels = append(levels, level{g, step, u, f})
	}
	top, last := levels[0], len(levels)-1
	for n, l := range levels[:last] {
		l.relax(1)
		l.restrict(levels[n+1])
	}
	for range solves {
		levels[last].relax(2 / (1 + math.Sin(math.Pi/bottom))) // the best for a square
	}
	for n := last - 1; n >= 0; n-- {
		levels[n].correct(levels[n+1])
		levels[n].relax(1)
	}
	least := small * small * float64(*side**side)
	residual := stencil.NewField(g, "residual", stencil.FieldOptions[float64]{})
	rr := stencil.NewSum(g, "r·r", stencil.ReductionOptions{Until: func(_ int, v float64) bool { return v <= least }})
	g.Stage(func(b *stencil.Block) {
		stencil.Apply(b, residual, top.u, 0, laplace)
		for row := range b.Rows() {
			r := residual.New(row)
			for i, f := range top.f.Old(row) {
				r[i] = f - r[i]
			}
			rr.Dot(b, r, r)
		}
	}, residual, rr)
	return top.u
}
