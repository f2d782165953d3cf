package main

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/orwl"
)

// part is a block and its main task. It belongs to that task alone, except for
// swept, and in the form of nine tasks for data, which the exporters read when
// the task lets them.
type part struct {
	actor
	row, col int // in the grid
	node     int // where it is
	extent   extent
	block    *block // nil if it is elsewhere
	bands    []int

	// What is needed before the first band, and before the last.
	first, late []inlet
	// What is written after the first band, and after the last; only if the task
	// exports its own frontiers.
	early, rest []outlet
	// Data is what the exporters hold while they read the block's data; nil if
	// there are none.
	data *orwl.Access
	left time.Duration // when they were last allowed to read; held like data

	swept atomic.Int64 // elements so far
}

// main is all iterations of the block.
//
// The neighbour in the north waits for the first row, and the one in the south is
// waited for with the last row only. So the block is swept in bands: the northern
// frontier goes out after the first, the southern one comes in before the last,
// and blocks above each other compute at the same time however few there are.
func (p *part) main(kernel kernel, iters int) error {
	if err := p.listen(); err != nil {
		return err
	}
	return p.rounds(iters, func(k int) error {
		if err := p.readAll(p.first, k); err != nil {
			return err
		}
		for n := range len(p.bands) - 1 {
			firstBand, lastBand := n == 0, n == len(p.bands)-2
			if lastBand {
				if err := p.readAll(p.late, k); err != nil {
					return err
				}
			}
			if firstBand && p.data != nil {
				if _, err := p.acquire(p.data); err != nil {
					return err
				}
			}
			if err := p.sweep(kernel, p.bands[n], p.bands[n+1]); err != nil {
				return err
			}
			if firstBand {
				if err := p.writeAll(p.early, k); err != nil {
					return err
				}
			}
		}
		if p.data != nil {
			p.watch.enter(exporting)
			p.left = p.watch.since
			return p.release(p.data)
		}
		return p.writeAll(p.rest, k)
	})
}

// sweep is one band. It fails only when the run is over.
func (p *part) sweep(kernel kernel, from, to int) error {
	ctx := p.Context()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	p.watch.enter(computing)
	kernel.sweep(p.block, from, to)
	p.swept.Add(int64(to-from) * int64(p.block.cols))
	return nil
}

// listen has the clock read when the first frontiers of other nodes come.
func (p *part) listen() error {
	for _, ins := range [][]inlet{p.first, p.late} {
		for i := range ins {
			if err := ins[i].listen(p.watch.clock); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *part) readAll(ins []inlet, k int) error {
	if len(ins) > 0 {
		p.watch.enter(importing)
	}
	for i := range ins {
		if err := p.read(p.block, &ins[i], k); err != nil {
			return err
		}
	}
	return nil
}

func (p *part) writeAll(outs []outlet, k int) error {
	if len(outs) > 0 {
		p.watch.enter(exporting)
	}
	for i := range outs {
		if err := p.write(p.block, &outs[i], k, p.watch.since); err != nil {
			return err
		}
	}
	return nil
}

// A block has a few bands if it has the rows, but none of fewer rows than this,
// for kernels that sweep several at a time, and none of more than band elements.
const (
	bandRows  = 16
	bandCount = 4
)

// bandsOf is where the bands of a block begin, and where the last one ends.
func bandsOf(e extent) []int {
	step := max(bandRows, (e.rows+bandCount-1)/bandCount)
	step = max(1, min(step, band/e.cols))
	var begins []int
	for row := 1; row <= e.rows; row += step {
		begins = append(begins, row)
	}
	return append(begins, e.rows+1)
}
