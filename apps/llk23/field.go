package main

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
)

// form is how many tasks a block has.
type form string

const (
	// fused is one task, which exports its own frontiers.
	fused form = "fused"
	// nine is the paper's form: a main task, and a sub-task for each of the up to
	// eight edges and corners that a neighbour reads.
	nine form = "9"
)

// field is a problem cut into a grid of blocks, and the program that solves it.
type field struct {
	problem
	grid, each size // blocks, and elements in each
	form       form
	parts      []*part // row by row
	exporters  []*exporter
	frontiers  int // how many there are

}

// newField cuts p. Blocks and program are made by prepare and declare.
func newField(p problem, grid size, f form) *field {
	return &field{
		problem: p, form: f,
		grid:  grid,
		each:  size{p.rows / grid.rows, p.cols / grid.cols},
		parts: make([]*part, grid.cells()),
	}
}

// extent is the block's place in the matrix.
func (f *field) extent(row, col int) extent {
	return extent{top: 1 + row*f.each.rows, left: 1 + col*f.each.cols, rows: f.each.rows, cols: f.each.cols}
}

// prepare makes all blocks, several at a time.
func (f *field) prepare(ctx context.Context, workers int) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var next atomic.Int64
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for {
				n := int(next.Add(1)) - 1
				if n >= len(f.parts) {
					return
				}
				p := &part{row: n / f.grid.cols, col: n % f.grid.cols}
				b, err := f.newBlock(ctx, f.extent(p.row, p.col))
				if err != nil {
					fail(err)
					return
				}
				p.block, p.bands = b, bandsOf(b.extent)
				f.parts[n] = p
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

// String is the part's name, in messages and in a trace.
func (p *part) String() string { return fmt.Sprintf("block %d,%d", p.row, p.col) }

// swept is how many elements all parts have swept so far.
func (f *field) swept() int64 {
	total := int64(0)
	for _, p := range f.parts {
		total += p.swept.Load()
	}
	return total
}

// result is the rows of the whole matrix, its ring included; each is valid until
// the next. No part may sweep meanwhile.
func (f *field) result() iter.Seq2[int, []float64] {
	return func(yield func(int, []float64) bool) {
		row := make([]float64, f.cols+2)
		for i := range f.rows + 2 {
			at := min(max(i-1, 0)/f.each.rows, f.grid.rows-1) * f.grid.cols
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
	for _, p := range f.parts {
		p.block.forget()
	}
}
