package main

import (
	"context"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/orwl"
)

// measured is a finished run and what it took.
type measured struct {
	*field
	took       time.Duration // from the start of the runtime to the end of the last task
	shipped    int64         // bytes of contents that went from node to node meanwhile
	processors int           // of all nodes: each node counts the events of its whole host
}

// stall is how long the run may make no progress before the runtime reports which task waits
// for which. Sweeping the largest block there can be takes less.
const stall = time.Minute

// solve solves f's problem, with the other nodes if there are any. Node 0 has all
// blocks then; the others have nothing measured. If there is a trace, it is filled.
func (f *field) solve(ctx context.Context, tr *tracing, m *meter) (*measured, error) {
	begin := time.Now()
	rt, err := f.program(ctx, tr)
	f.setup = time.Since(begin)
	if err := f.meet(ctx, err); err != nil {
		return nil, err
	}
	f.others = make([]statement, f.nodes.Count()-1)
	f.begin = time.Now()
	for p := range f.here() {
		p.watch.clock = f.clock
	}
	tr.follow(f)
	f.exhibit.follow(rt, f, f.clock)
	f.ended = sync.OnceValue(f.rest)
	stop := m.watch("sweeping", f.share(), f.swept)
	err = rt.Run(ctx)
	stop()
	if err == nil {
		err = tr.gather(ctx, f)
	}
	if err != nil || f.nodes.Number() != 0 {
		return nil, err
	}
	if err := f.close(ctx); err != nil {
		return nil, err
	}
	return f.settle(append([]statement{f.own}, f.others...)), nil
}

// program makes this node's blocks, and declares everybody's tasks.
func (f *field) program(ctx context.Context, tr *tracing) (*orwl.Runtime, error) {
	if err := f.prepare(ctx, runtime.GOMAXPROCS(0)); err != nil {
		return nil, err
	}
	observers, err := tr.observers(f)
	if err != nil {
		return nil, err
	}
	observers = append(append(observers, f.exhibit.observers()...), f)
	why := &teller{to: f.why}
	if f.why != nil {
		observers = append(observers, why)
	}
	rt, err := orwl.New(orwl.Options{Stall: stall, Nodes: f.nodes, Log: f.log, Observers: observers, PinWorkers: f.pin})
	if err != nil {
		return nil, err
	}
	why.runtime = rt
	return rt, f.declare(rt)
}

// rest waits until this node's actors have ended, stops their watches and gives up
// what only sweeping needs.
func (f *field) rest() time.Duration {
	f.working.Wait()
	took := f.clock()
	for node, w := range f.watches() {
		if node == f.nodes.Number() {
			w.stop(took)
		}
	}
	f.forget()
	return took
}

// watches are the stopwatches of all blocks and exporters, with the node where they are.
func (f *field) watches() iter.Seq2[int, *stopwatch] {
	return func(yield func(int, *stopwatch) bool) {
		for _, p := range f.parts {
			if !yield(p.node, &p.watch) {
				return
			}
		}
		for _, x := range f.exporters {
			if !yield(x.part.node, &x.watch) {
				return
			}
		}
	}
}

// meet waits until all nodes are ready to begin. If one of them is not, none does.
func (f *field) meet(ctx context.Context, failure error) error {
	var text []byte
	if failure != nil {
		text = []byte(failure.Error())
	}
	all, err := f.nodes.Gather(ctx, "ready", text)
	switch {
	case failure != nil:
		return failure
	case err != nil:
		return err
	}
	for node, text := range all {
		if len(text) > 0 {
			return &orwl.NodeError{Node: node, Text: string(text)}
		}
	}
	return nil
}

// verify computes f's problem once more, sequentially and from initial values
// that it makes for itself, and compares every bit. The field must have given up
// its coefficients, so that there are never more than seven matrices.
func verify(ctx context.Context, f *field, m *meter) (took time.Duration, err error) {
	runtime.GC() // otherwise the old coefficients stay until the heap has doubled
	b, err := f.newBlock(ctx, f.whole())
	if err != nil {
		return 0, err
	}
	var swept atomic.Int64
	begin := time.Now()
	stop := m.watch("verifying", f.updates(), swept.Load)
	err = f.sequential(ctx, b, &swept)
	took = time.Since(begin)
	stop()
	if err != nil {
		return took, err
	}
	return took, compare(ctx, f.result(), b)
}
