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
func (p *part) main(all problem) error {
	if err := p.listen(); err != nil {
		return err
	}
	return p.rounds(all.passes(), func(k int) error { return p.pass(all.kernel, all.deep()+1, all.inPass(k)) })
}

// pass is one iteration, or a few: while rows are in the cache, they are swept several
// times, each sweep a row to the north of the one before it, since what it needs from
// its south has to be of that:
//
//	step n of sweep 0      rows  1+n·h ... (n+1)·h
//	            sweep 1      rows  0+n·h ... (n+1)·h-1
//	            sweep 2      rows -1+n·h ... (n+1)·h-2
//
// So a block leaves the last rows to its southern neighbour after a sweep or two, and
// finishes those of its northern one: edges and borders are as deep as there are
// sweeps, and a pass needs its neighbours no more often than an iteration does.
//
// The neighbour in the north waits for the first row, and the one in the south is
// waited for with the last row only. So the northern frontier goes out as soon as it
// can, and the southern one comes in as late: blocks above each other compute at the
// same time however few there are.
func (p *part) pass(kernel kernel, most, sweeps int) error {
	if err := p.readAll(p.first); err != nil {
		return err
	}
	e := p.extent
	step, steps := e.step(most), e.steps(most)
	late, early := false, false
	for n := range steps {
		if !late && (n+1)*step >= e.rows-e.below {
			late = true
			if err := p.readAll(p.late); err != nil {
				return err
			}
		}
		if n == 0 && p.data != nil {
			if _, err := p.acquire(p.data); err != nil {
				return err
			}
		}
		for s := range sweeps {
			from, to := e.swept(s)
			from, to = max(from, 1-s+n*step), min(to, 1-s+(n+1)*step)
			if from >= to {
				continue
			}
			if err := p.sweep(kernel, from, to); err != nil {
				return err
			}
		}
		if !early && (n+1)*step >= sweeps {
			early = true
			if err := p.writeAll(p.early); err != nil {
				return err
			}
		}
	}
	if p.data != nil {
		p.watch.enter(exporting)
		p.left = p.watch.since
		return p.release(p.data)
	}
	return p.writeAll(p.rest)
}

// sweep is some rows, once. It fails only when the run is over.
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

func (p *part) readAll(ins []inlet) error {
	if len(ins) > 0 {
		p.watch.enter(importing)
	}
	for i := range ins {
		if err := p.read(p.block, &ins[i]); err != nil {
			return err
		}
	}
	return nil
}

func (p *part) writeAll(outs []outlet) error {
	if len(outs) > 0 {
		p.watch.enter(exporting)
	}
	for i := range outs {
		if err := p.write(p.block, &outs[i], p.watch.since); err != nil {
			return err
		}
	}
	return nil
}

// swept is which rows sweep s of a pass is over, from 0: from..to-1.
func (e extent) swept(s int) (from, to int) { return 1 - min(s, e.above), e.rows + 1 - min(s, e.below) }

// sweptBy is how many elements so many sweeps of a pass are over.
func (e extent) sweptBy(sweeps int) (elements int64) {
	for s := range sweeps {
		from, to := e.swept(s)
		elements += int64(to-from) * int64(e.cols)
	}
	return elements
}

// A pass of one sweep has a few steps if the block has the rows, but none of fewer rows
// than this, for kernels that sweep several at a time, and none of more than band
// elements. The steps of several sweeps are as short as such kernels can do with: what
// counts is that their rows stay in the cache.
const (
	bandRows  = 16
	bandCount = 4
	chaseRows = skew
)

// step is how many rows a step has, where a pass has so many sweeps.
func (e extent) step(sweeps int) int {
	if sweeps > 1 {
		return chaseRows
	}
	return max(1, min(max(bandRows, (e.rows+bandCount-1)/bandCount), band/e.cols))
}

// steps is how many there are.
func (e extent) steps(sweeps int) int {
	step := e.step(sweeps)
	return (e.rows + sweeps - 1 + step - 1) / step
}
