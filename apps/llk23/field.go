package main

import (
	"context"
	"errors"
	"io"
	"iter"
	"log/slog"
	"sync"
	"time"

	"github.com/orwl/go-orwl/internal/exhibit"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/stencil"
	"github.com/orwl/go-orwl/orwl/stencil/show"
)

// form is how many tasks a block has.
type form string

const (
	// fused is one task, or one for each stage of a large block. They export the block's
	// frontiers themselves.
	fused form = "fused"
	// nine is the paper's form: the same, and a task for each of the up to eight edges and corners
	// that a neighbour reads.
	nine form = "9"
)

// field is a problem cut into a grid of blocks, and the grid that solves it. All nodes of a run
// have the same field.
type field struct {
	problem
	grid, each size // blocks, and elements in each
	form       form
	nodes      *orwl.Nodes      // nil: this process is alone
	exhibit    *exhibit.Exhibit // nil: there is none
	log        *slog.Logger     // nil: slog's own
	pin        bool             // the workers
	why        io.Writer        // gets the placement of the run; nil: it is not asked for
	films      bool             // the run

	cells  *stencil.Grid
	planes [planes]*stencil.Field[float64]
	ring   ring
	views  []block // what is swept of each block; only one task works on a block at a time
	begin  time.Time
	setup  time.Duration
	trace  *tracing   // nil: there is no trace
	film   *show.Film // nil: there is none

	reading sync.Once
	unread  error // the first of a file that data comes from

	final    []float64         // the interior, once it is solved, on node 0
	accounts []stencil.Account // of all blocks, on node 0
}

// newField cuts p.
func newField(p problem, grid size, f form) *field {
	return &field{problem: p, form: f, grid: grid, each: size{p.rows / grid.rows, p.cols / grid.cols}, views: make([]block, grid.cells())}
}

// on says on which nodes the field will be solved, instead of on this one alone.
func (f *field) on(nodes *orwl.Nodes) *field {
	f.nodes = nodes
	return f
}

// declare declares the grid in a runtime, and sets this node's blocks to their initial values.
func (f *field) declare(ctx context.Context, rt *orwl.Runtime) error {
	f.cells = stencil.New(rt, stencil.Options{
		Name: "block", Size: stencil.Size{f.rows, f.cols}, Update: stencil.InPlace,
		Blocks: stencil.Size{f.grid.rows, f.grid.cols}, Sweeps: f.inPass(), Exporters: f.form == nine,
		Watch: f.watch(),
	})
	names := [planes]string{"data", "zb", "zr", "zu", "zv", "zz"}
	for p := range planes {
		o := stencil.FieldOptions[float64]{Constant: p != planeData, InitialRow: f.initial(ctx, p)}
		if p == planeData {
			o.Halo = stencil.Around(1)
		}
		f.planes[p] = stencil.NewField(f.cells, names[p], o)
	}
	if err := f.cells.Sweep(f.iters, func(b *stencil.Block) { f.sweep(ctx, b) }); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if f.unread != nil {
		return f.unread
	}
	if f.films {
		f.film = show.NewFilm(show.Field(f.planes[planeData]))
	}
	return f.keepRing()
}

// initial is the values of a plane, for the grid. It counts from the first element inside the ring.
func (f *field) initial(ctx context.Context, p plane) func(at []int, row []float64) {
	return func(at []int, row []float64) {
		if ctx.Err() != nil {
			return
		}
		if err := f.fill(p, at[0]+1, at[1]+1, row); err != nil {
			f.reading.Do(func() { f.unread = err })
		}
	}
}

// sweep is the kernel of the grid. It stops early if ctx is done: the run is over then.
func (f *field) sweep(ctx context.Context, b *stencil.Block) {
	v := &f.views[b.Number()]
	e := extent{top: 1 + b.At(0), left: 1 + b.At(1), rows: b.Len(0), cols: b.Len(1)}
	if v.extent != e {
		for plane := planeZb; plane < planes; plane++ { // they stay where they are
			m := f.planes[plane].Box(b)
			v.planes[plane] = matrix{step: m.Row, cols: e.cols, cells: m.Cells[m.First:]}
		}
		v.extent = e
	}
	m := f.planes[planeData].Box(b)
	v.planes[planeData] = matrix{step: m.Row, cols: e.cols + 2, cells: m.Cells[m.First-m.Row-1:]}
	// Its only error is the end of ctx, which Run returns.
	_ = f.sweepOnce(ctx, v, nil)
}

// watch measures what blocks do, and tells of it if there is a trace or an exhibit.
func (f *field) watch() stencil.Watch {
	w := stencil.Watch{Clock: f.clock, Live: f.exhibit != nil}
	if f.trace != nil {
		w.Observe = f.trace.changed
	}
	return w
}

// clock is the time since the run began.
func (f *field) clock() time.Duration { return time.Since(f.begin) }

// here says that a block is of this node.
func (f *field) here(n int) bool { return f.cells.Node(n) == f.nodes.Number() }

// ring is the border of the whole matrix, which does not change.
type ring struct{ north, south, west, east []float64 }

// keepRing keeps the ring, which the result has, too.
func (f *field) keepRing() error {
	r := &f.ring
	r.north, r.south = make([]float64, f.cols+2), make([]float64, f.cols+2)
	r.west, r.east = make([]float64, f.rows), make([]float64, f.rows)
	err := errors.Join(f.fill(planeData, 0, 0, r.north), f.fill(planeData, f.rows+1, 0, r.south))
	for i := range f.rows {
		err = errors.Join(err, f.fill(planeData, 1+i, 0, r.west[i:i+1]), f.fill(planeData, 1+i, f.cols+1, r.east[i:i+1]))
	}
	return err
}

// result is the rows of the whole matrix, its ring included; each is valid until the next.
func (f *field) result() iter.Seq2[int, []float64] {
	return func(yield func(int, []float64) bool) {
		row := make([]float64, f.cols+2)
		for i := range f.rows + 2 {
			switch {
			case i == 0:
				copy(row, f.ring.north)
			case i == f.rows+1:
				copy(row, f.ring.south)
			default:
				row[0], row[f.cols+1] = f.ring.west[i-1], f.ring.east[i-1]
				copy(row[1:], f.final[(i-1)*f.cols:i*f.cols])
			}
			if !yield(i, row) {
				return
			}
		}
	}
}
