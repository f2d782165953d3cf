package taskbench

import (
	"context"
	"sync"
	"time"
)

// channels runs graphs with a goroutine for each column and a channel for each pair of columns,
// as a Go program would.
type channels struct{}

func (channels) Close() error { return nil }

// edge brings the outputs of one column to another. The channel holds one output, and the
// reader has one. So a third one is free.
type edge struct {
	ring [3][]Pair
	next int
	sent chan []Pair
}

// send sends a copy of an output.
func (e *edge) send(output []Pair, ended <-chan struct{}) {
	slot := e.ring[e.next]
	e.next = (e.next + 1) % len(e.ring)
	copy(slot, output)
	select {
	case e.sent <- slot:
	case <-ended:
	}
}

// Run implements System.
func (channels) Run(ctx context.Context, graphs []*Schedule) (Result, error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	var (
		work  sync.WaitGroup
		all   []*runner
		begin = make(chan struct{})
	)
	for _, s := range graphs {
		runners, scratch := s.newRunners()
		edges, readers := s.edges(), s.readers()
		for c := range runners {
			r := &runners[c]
			all = append(all, r)
			work.Go(func() {
				<-begin
				if err := r.converse(ctx.Done(), edges, readers, scratch[c]); err != nil {
					end(err)
				}
			})
		}
	}
	start := time.Now()
	close(begin)
	work.Wait()
	elapsed := time.Since(start)
	var sum tally
	for _, r := range all {
		sum.add(r.tally)
	}
	return sum.result(elapsed), context.Cause(ctx)
}

// converse runs the steps of a column: each receives its inputs and sends its output. It
// returns early if ended is closed.
func (r *runner) converse(ended <-chan struct{}, edges []map[int]*edge, readers [][][]int, scratch []byte) error {
	s, col := r.schedule, &r.schedule.columns[r.column]
	output, inputs := make([]Pair, s.pairs()), make([][]Pair, s.Width)
	for step := col.first; step <= col.last; step++ {
		columns := s.inputsOf(step, r.column)
		for i, d := range columns {
			select {
			case inputs[i] = <-edges[r.column][d].sent:
			case <-ended:
				return nil
			}
		}
		if err := r.check(step, inputs); err != nil {
			return err
		}
		if err := r.finish(step, output, scratch); err != nil {
			return err
		}
		for _, to := range readers[s.setOf(step+1)][r.column] {
			if c := &s.columns[to]; c.first <= step+1 && step+1 <= c.last {
				edges[to][r.column].send(output, ended)
			}
		}
	}
	return nil
}

// edges makes an edge for each pair of columns that ever meet, by reader and then by the column
// that it reads.
func (s *Schedule) edges() []map[int]*edge {
	edges := make([]map[int]*edge, s.Width)
	for c, col := range s.columns {
		edges[c] = make(map[int]*edge)
		for _, inputs := range col.inputs {
			for _, d := range inputs {
				if edges[c][d] != nil {
					continue
				}
				e := &edge{sent: make(chan []Pair, 1)}
				for i := range e.ring {
					e.ring[i] = make([]Pair, s.pairs())
				}
				edges[c][d] = e
			}
		}
	}
	return edges
}
