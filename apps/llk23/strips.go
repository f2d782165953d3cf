package main

import (
	"context"
	"fmt"
	"iter"
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/net/rma"
)

// strips is a problem cut into horizontal strips, one for each rank of a
// fabric.
type strips struct {
	problem
	parts []*strip // by rank

	// Rows that travel to the rank in the south, and to the one in the north.
	southward, northward mailbox

	// clock is the time since the sweep began.
	clock func() time.Duration
}

// strip is one rank's part. It belongs to its rank alone, except for swept.
type strip struct {
	*block
	watch stopwatch
	swept atomic.Int64 // elements so far
	sent  int64        // rows handed over
}

// stripWords is what strips need of each rank's symmetric memory.
func stripWords(cols int) int { return 2 * mailboxWords(cols) }

// newStrips cuts p into as many strips as f has ranks. The strips are empty
// until [strips.prepare].
func newStrips(f rma.Fabric, p problem) (*strips, error) {
	ranks := f.Topology().Ranks()
	if ranks > p.rows {
		return nil, fmt.Errorf("%d ranks for %d rows: a strip has at least one row", ranks, p.rows)
	}
	s := &strips{problem: p, parts: make([]*strip, ranks), clock: func() time.Duration { return 0 }}
	var err error
	if s.southward, err = newMailbox(f, "southward", p.cols); err != nil {
		return nil, err
	}
	s.northward, err = newMailbox(f, "northward", p.cols)
	return s, err
}

// extent is rank p's rows: as many for each rank, and one more for the first
// few if they do not divide.
func (s *strips) extent(p rma.Rank) extent {
	each, more := s.rows/len(s.parts), s.rows%len(s.parts)
	e := s.whole()
	e.top += int(p)*each + min(int(p), more)
	e.rows = each
	if int(p) < more {
		e.rows++
	}
	return e
}

// prepare makes rank p's strip. Ranks may do so at the same time.
func (s *strips) prepare(ctx context.Context, p rma.Rank) error {
	b, err := newBlock(ctx, s.extent(p), s.values)
	s.parts[p] = &strip{block: b}
	return err
}

// swept is how many elements all ranks have swept so far.
func (s *strips) swept() int64 {
	total := int64(0)
	for _, part := range s.parts {
		total += part.swept.Load()
	}
	return total
}

// result is the rows of the whole matrix, its ring included. No rank may sweep
// meanwhile.
func (s *strips) result() iter.Seq2[int, []float64] {
	return func(yield func(int, []float64) bool) {
		for p, part := range s.parts {
			from, to := 1, part.rows+1
			if p == 0 {
				from = 0
			}
			if p == len(s.parts)-1 {
				to++
			}
			for i := from; i < to; i++ {
				if !yield(part.top-1+i, part.row(i)) {
					return
				}
			}
		}
	}
}
