package taskbench

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// barrier runs graphs with a goroutine for each worker, which has contiguous columns, and a
// barrier after each step.
type barrier struct{ workers int }

func (barrier) Close() error { return nil }

// Run implements System.
func (b barrier) Run(ctx context.Context, graphs []*Schedule) (Result, error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	var (
		work  sync.WaitGroup
		meets = meeting{all: int64(b.workers)}
		rows  []*row
		steps int
	)
	for _, s := range graphs {
		rows = append(rows, newRow(s))
		steps = max(steps, s.Steps)
	}
	var start time.Time
	for w := range b.workers {
		work.Go(func() {
			meets.wait(ctx) // all run
			if w == 0 {
				start = time.Now()
			}
			for step := 0; step < steps; step++ {
				for _, r := range rows {
					if err := r.step(step, w, b.workers); err != nil {
						end(err)
					}
				}
				meets.wait(ctx)
			}
		})
	}
	work.Wait()
	elapsed := time.Since(start)
	var sum tally
	for _, r := range rows {
		for c := range r.runners {
			sum.add(r.runners[c].tally)
		}
	}
	return sum.result(elapsed), context.Cause(ctx)
}

// row is the columns of a graph, with the outputs of this step and of the last.
type row struct {
	*Schedule
	runners []runner
	scratch [][]byte
	outputs [2][][]Pair
	inputs  [][][]Pair // of a column, to fill in
}

func newRow(s *Schedule) *row {
	r := &row{Schedule: s, inputs: make([][][]Pair, s.Width)}
	r.runners, r.scratch = s.newRunners()
	for i := range r.outputs {
		for range s.Width {
			r.outputs[i] = append(r.outputs[i], make([]Pair, s.pairs()))
		}
	}
	return r
}

// step runs the tasks of one worker in a step.
func (r *row) step(step, worker, workers int) error {
	for c := worker * r.Width / workers; c < (worker+1)*r.Width/workers; c++ {
		if col := &r.columns[c]; step < col.first || step > col.last {
			continue
		}
		inputs := r.inputs[c][:0]
		for _, d := range r.inputsOf(step, c) {
			inputs = append(inputs, r.outputs[(step+1)%2][d])
		}
		r.inputs[c] = inputs
		if err := r.runners[c].check(step, inputs); err != nil {
			return err
		}
		if err := r.runners[c].finish(step, r.outputs[step%2][c], r.scratch[c]); err != nil {
			return err
		}
	}
	return nil
}

// meeting is a barrier that spins, and lets other goroutines run now and then.
type meeting struct {
	all     int64
	arrived atomic.Int64
	_       [64]byte
	round   atomic.Int64
}

// wait waits until all have come, or ctx has ended.
func (m *meeting) wait(ctx context.Context) {
	const patience = 2000 // loads
	round := m.round.Load()
	if m.arrived.Add(1) == m.all {
		m.arrived.Store(0)
		m.round.Store(round + 1)
		return
	}
	for i := 1; m.round.Load() == round; i++ {
		if i%patience == 0 {
			if ctx.Err() != nil {
				return
			}
			runtime.Gosched()
		}
	}
}
