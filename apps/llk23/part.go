package main

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/trace"
	"github.com/orwl/go-orwl/resource"
)

// part is a block and the tasks that sweep it: its stages. Only one of them runs at a
// time, and the block, the watch and the tally belong to the one that runs. Others read
// only swept, and what the watch shows.
type part struct {
	row, col int // in the grid
	node     int // where it is
	extent   extent
	block    *block // nil if it is elsewhere
	stages   []*stage

	// data has no bytes. Each task of the block holds it in turn: the stages one by one,
	// and then all exporters together. It is nil if the block has one task.
	data *resource.Resource

	watch stopwatch
	tally
	swept atomic.Int64 // elements so far
}

// tally counts what a block has read.
type tally struct {
	Reads int64 // frontiers
	Bytes int64
	Hits  int64 // reads of what was there when the block ended its stage before
	// Hidden is how long frontiers were on their way while the block did something else:
	// from the announcement until they were there, or until the block began to wait. A
	// frontier of the same node is there when it is computed, one of another node when it
	// has come.
	Hidden time.Duration
}

func (t *tally) add(u tally) {
	t.Reads += u.Reads
	t.Bytes += u.Bytes
	t.Hits += u.Hits
	t.Hidden += u.Hidden
}

// A pass over a block is one iteration, or a few: while rows are in the cache, they are
// swept several times. Each sweep is a row to the north of the one before it, because it
// needs the rows to its south from that one:
//
//	band n of sweep 0      rows  1+n·h ... (n+1)·h
//	          sweep 1      rows  0+n·h ... (n+1)·h-1
//	          sweep 2      rows -1+n·h ... (n+1)·h-2
//
// So a block leaves the last rows to its southern neighbour after a sweep or two, and
// finishes those of its northern one: edges and borders are as deep as there are
// sweeps, and a pass needs its neighbours no more often than an iteration does.

// stage is a step task that does the bands from..to-1 of each pass. It starts when all of
// its frontiers are there, and copies its own out when it ends.
//
// A block has one stage if it has one band. Otherwise its bands are cut at two places:
//
//	head     reads north, west and east      writes north
//	middle
//	tail     reads south                     writes south, west and east
//
// The northern neighbour waits for the first rows only, and the southern one delays the
// last rows only. So blocks above each other compute at the same time, however few there
// are, and a frontier can travel during the middle.
//
// Nothing is lost by waiting for all accesses of a stage at once, and by holding them
// until its end. A neighbour needs the result of this stage before it wants to write what
// this stage reads, and this stage needs the neighbour's result before it may write again.
type stage struct {
	*orwl.Task
	part     *part
	from, to int // bands
	in       []inlet
	out      []outlet
	rec      *trace.Recording // nil: there is no trace
}

// stageAt is the stage that does a band.
func (p *part) stageAt(band int) *stage {
	for _, s := range p.stages {
		if band < s.to {
			return s
		}
	}
	return nil
}

// round is the stage's part of pass k.
func (s *stage) round(all problem, k int) error {
	p := s.part
	w := &p.watch
	asked := w.since
	w.rec = s.rec
	if len(s.in) > 0 {
		w.enter(importing)
		for i := range s.in {
			p.read(&s.in[i], asked)
		}
	}
	w.enter(computing)
	if err := s.sweep(all.kernel, all.deep()+1, all.inPass(k)); err != nil {
		return err
	}
	if len(s.out) > 0 {
		w.enter(exporting)
		for i := range s.out {
			s.out[i].write(p.block, w.since)
		}
	}
	w.rest(k == all.passes()-1 && s.to == p.extent.bands(all.deep()+1))
	for i := range s.in {
		s.in[i].announced = w.since
	}
	return nil
}

// sweep sweeps the stage's bands so many times. most is how often others passes do. It
// fails only when the run is over.
func (s *stage) sweep(kernel kernel, most, sweeps int) error {
	p, ctx := s.part, s.Context()
	rows := p.extent.band(most)
	for n := s.from; n < s.to; n++ {
		for i := range sweeps {
			from, to := p.extent.swept(i)
			from, to = max(from, 1-i+n*rows), min(to, 1-i+(n+1)*rows)
			if from >= to {
				continue
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			kernel.sweep(p.block, from, to)
			p.swept.Add(int64(to-from) * int64(p.block.cols))
		}
	}
	return nil
}

// read copies a neighbour's frontier into the block's border. asked is when the block
// began to wait for it.
func (p *part) read(in *inlet, asked time.Duration) {
	p.block.read(in.View(), in.into)
	p.count(8*in.into.cells(), in.announced, in.there(), asked)
}

// count counts a frontier of so many bytes, by when it was announced, when it was there,
// and when the block began to wait for it.
func (t *tally) count(bytes int, announced, there, asked time.Duration) {
	t.Reads++
	t.Bytes += int64(bytes)
	if there <= asked {
		t.Hits++
	}
	t.Hidden += max(0, min(asked, there)-announced)
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

// A pass of one sweep has at most bandCount bands, each of at least bandRows rows, for
// kernels that sweep several at a time, and at least bandLeast elements, because a stage
// costs as much as a thousand. No band has more than the constant band says. The bands of
// several sweeps are as short as such kernels allow, so that their rows stay in the cache.
const (
	bandCount = 4
	bandRows  = 16
	bandLeast = 2048
	chaseRows = skew
)

// band is how many rows a band has, where a pass has so many sweeps.
func (e extent) band(sweeps int) int {
	if sweeps > 1 {
		return chaseRows
	}
	rows := max(bandRows, divideUp(e.rows, bandCount), divideUp(bandLeast, e.cols))
	return max(1, min(rows, band/e.cols))
}

// bands is how many there are.
func (e extent) bands(sweeps int) int { return divideUp(e.rows+sweeps-1, e.band(sweeps)) }

// early is how many bands it takes until the northern frontier is complete.
func (e extent) early(sweeps int) int { return min(divideUp(sweeps, e.band(sweeps)), e.bands(sweeps)) }

// late is how many bands need no southern frontier.
func (e extent) late(sweeps int) int { return divideUp(e.rows-e.below, e.band(sweeps)) - 1 }

// divideUp is n/by, rounded up.
func divideUp(n, by int) int { return (n + by - 1) / by }

// cuts are the bands at which the stages of a block begin, and the end.
func (e extent) cuts(sweeps int, early, late bool) []int {
	cuts := []int{0, e.bands(sweeps)}
	if early {
		cuts = append(cuts, e.early(sweeps))
	}
	if late {
		cuts = append(cuts, e.late(sweeps))
	}
	slices.Sort(cuts)
	return slices.Compact(cuts)
}
