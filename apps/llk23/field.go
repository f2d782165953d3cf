package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/orwl"
)

// form is how many tasks a block has.
type form string

const (
	// fused is one task, or one for each stage of a large block. They export the block's
	// frontiers themselves.
	fused form = "fused"
	// nine is the paper's form: the same, and a sub-task for each of the up to eight edges
	// and corners that a neighbour reads.
	nine form = "9"
)

// field is a problem cut into a grid of blocks, and the program that solves it. All
// nodes of a run have the same field, and each has the blocks of its own parts.
type field struct {
	problem
	grid, each size // blocks, and elements in each
	form       form
	nodes      *orwl.Nodes // nil: this process is alone
	parts      []*part     // row by row
	exporters  []*exporter
	exhibit    *exhibit     // nil: there is none
	log        *slog.Logger // nil: slog's own
	pin        bool         // the workers
	why        io.Writer    // gets the placement of the run; nil: it is not asked for

	// What is needed while it is solved.
	actors  map[*orwl.Task]bool // that work on this node's parts
	working sync.WaitGroup      // the actors
	begin   time.Time
	setup   time.Duration

	// The result, once it is solved.
	ended   func() time.Duration // waits for the actors, and says when the last ended
	closing sync.Once
	closed  error
	own     statement   // this node's
	others  []statement // the blocks of node 1 and up, on node 0
}

// newField cuts p. Blocks and program are made by prepare and declare.
func newField(p problem, grid size, f form) *field {
	return &field{
		problem: p, form: f,
		grid:  grid,
		each:  size{p.rows / grid.rows, p.cols / grid.cols},
		parts: make([]*part, grid.cells()),

		actors: make(map[*orwl.Task]bool),
	}
}

// on says on which nodes the field will be solved, instead of on this one alone.
func (f *field) on(nodes *orwl.Nodes) *field {
	f.nodes = nodes
	return f
}

// here are the parts of a node's own.
func (f *field) here() iter.Seq[*part] { return f.of(f.nodes.Number()) }

// of are the parts of a node.
func (f *field) of(node int) iter.Seq[*part] {
	return func(yield func(*part) bool) {
		for _, p := range f.parts {
			if p.node == node && !yield(p) {
				return
			}
		}
	}
}

// extent is the block's place in the matrix.
func (f *field) extent(row, col int) extent {
	e := extent{top: 1 + row*f.each.rows, left: 1 + col*f.each.cols, rows: f.each.rows, cols: f.each.cols}
	if row > 0 {
		e.above = f.deep()
	}
	if row < f.grid.rows-1 {
		e.below = f.deep()
	}
	return e
}

// prepare makes all parts, and this node's blocks, several at a time.
func (f *field) prepare(ctx context.Context, workers int) error {
	for n, node := range deal(f.grid, f.each, f.nodes.Count()) {
		row, col := n/f.grid.cols, n%f.grid.cols
		f.parts[n] = &part{row: row, col: col, node: node, extent: f.extent(row, col)}
	}
	own := slices.Collect(f.here())
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var next atomic.Int64
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for {
				n := int(next.Add(1)) - 1
				if n >= len(own) {
					return
				}
				p := own[n]
				b, err := f.newBlock(ctx, p.extent)
				if err != nil {
					fail(err)
					return
				}
				p.block = b
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

// clock is the time since the run began.
func (f *field) clock() time.Duration { return time.Since(f.begin) }

// String is the part's name, in messages and in a trace.
func (p *part) String() string { return fmt.Sprintf("block %d,%d", p.row, p.col) }

// swept is how many elements this node's parts have swept so far.
func (f *field) swept() int64 {
	total := int64(0)
	for p := range f.here() {
		total += p.swept.Load()
	}
	return total
}

// share is how many elements they sweep in all iterations together.
func (f *field) share() int64 {
	total := int64(0)
	for p := range f.here() {
		total += f.planned(p)
	}
	return total
}

// planned is how many elements a part sweeps in all iterations together.
func (f *field) planned(p *part) int64 {
	most := f.deep() + 1
	return int64(f.iters/most)*p.extent.sweptBy(most) + p.extent.sweptBy(f.iters%most)
}

// result is the rows of the whole matrix, its ring included; each is valid until
// the next. Of rows that two blocks keep, the southern one has swept them last. No part may sweep meanwhile, and all blocks must be here.
func (f *field) result() iter.Seq2[int, []float64] {
	return func(yield func(int, []float64) bool) {
		row := make([]float64, f.cols+2)
		for i := range f.rows + 2 {
			at := min(max(i-1+f.deep(), 0)/f.each.rows, f.grid.rows-1) * f.grid.cols
			for _, p := range f.parts[at : at+f.grid.cols] {
				b := p.block
				from := b.row(i - (b.top - 1))
				if p.col > 0 {
					from = from[1:] // its western border is the neighbour's interior
				}
				copy(row[b.left-1+len(b.row(0))-len(from):], from)
			}
			if !yield(i, row) {
				return
			}
		}
	}
}

// forget gives up what only sweeping needs.
func (f *field) forget() {
	for p := range f.here() {
		p.block.forget()
	}
}
