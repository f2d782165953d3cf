package main

import (
	"context"
	"sync/atomic"
)

// problem is what to compute, in blocks or sequentially.
type problem struct {
	rows, cols int // of the interior
	iters      int
	sweeps     int // iterations in one pass over a block; 0: the grid chooses
	kernel     kernel
	values     initial
	data       *dataFile // nil, or what data is instead
}

// whole is the extent of the matrix.
func (p problem) whole() extent { return extent{top: 1, left: 1, rows: p.rows, cols: p.cols} }

// elements is the number of elements in the interior.
func (p problem) elements() int64 { return int64(p.rows) * int64(p.cols) }

// updates is how often an element is computed, in all iterations together.
func (p problem) updates() int64 { return p.elements() * int64(p.iters) }

// sequential is the sweep that every other form has to equal: one block, one
// iteration after the other.
func (p problem) sequential(ctx context.Context, b *block, swept *atomic.Int64) error {
	for range p.iters {
		if err := p.sweepOnce(ctx, b, swept); err != nil {
			return err
		}
	}
	return nil
}

// band is how many elements are swept between two checks whether to go on: half a millisecond's
// worth.
const band = 1 << 16

// sweepOnce sweeps b once, and adds the elements to swept as it goes, unless that is nil. It stops early only
// when ctx is done.
func (p problem) sweepOnce(ctx context.Context, b *block, swept *atomic.Int64) error {
	step := max(1, band/b.cols)
	for from := 1; from <= b.rows; from += step {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		end := min(from+step, b.rows+1)
		p.kernel.sweep(b, from, end)
		if swept != nil {
			swept.Add(int64(end-from) * int64(b.cols))
		}
	}
	return nil
}
