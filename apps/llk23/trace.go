package main

import (
	"context"
	"time"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/trace"
)

// mostSlices is how many slices a trace keeps, all nodes together.
const mostSlices = 1 << 18

// tracing is a trace that is asked for. Of all tasks it follows those that work on
// blocks: what becomes of the result afterwards is not measured either.
type tracing struct {
	most int
	rec  *trace.Recorder // nil until there is a field to follow
	done *trace.Trace    // on node 0, in the end

	follows map[*orwl.Task]bool
}

func newTracing(most int) *tracing { return &tracing{most: most, follows: make(map[*orwl.Task]bool)} }

// observers are those of f's runtime: none with no trace.
func (tr *tracing) observers(f *field, clock func() time.Duration) (_ []orwl.Observer, err error) {
	if tr == nil {
		return nil, nil
	}
	tr.rec, err = trace.NewRecorder(trace.Options{
		Slices: max(1, tr.most/f.nodes.Count()), Clock: clock,
		Tasks: func(t *orwl.Task) bool { return tr.follows[t] },
	})
	return []orwl.Observer{tr.rec}, err
}

// follow has the watches of f's tasks that are here say what they do, and gives all of
// them a clock.
func (tr *tracing) follow(f *field, clock func() time.Duration) {
	if tr == nil {
		return
	}
	for p, a := range f.actors() {
		if p.node == f.nodes.Number() {
			tr.follows[a.Task] = true
			a.watch.clock, a.watch.rec = clock, tr.rec.Recording(a.Task)
			a.watch.rec.Region(outside.String(), 0)
		}
	}
}

// gather brings what all nodes have recorded to node 0. Each of them calls it, and says
// for how long it has swept.
func (tr *tracing) gather(ctx context.Context, f *field) (err error) {
	if tr == nil {
		return nil
	}
	tr.rec.Span(0, f.ended())
	tr.done, err = tr.rec.Gather(ctx, f.nodes)
	return err
}
