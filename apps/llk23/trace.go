package main

import (
	"context"

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
}

func newTracing(most int) *tracing { return &tracing{most: most} }

// observers are the observers of f's runtime: none with no trace.
func (tr *tracing) observers(f *field) (_ []orwl.Observer, err error) {
	if tr == nil {
		return nil, nil
	}
	tr.rec, err = trace.NewRecorder(trace.Options{
		Slices: max(1, tr.most/f.nodes.Count()), Clock: f.clock,
		Tasks: func(t *orwl.Task) bool { return f.actors[t] },
	})
	return []orwl.Observer{tr.rec}, err
}

// follow has the watches of f's blocks and exporters that are here say what they do, and
// gives all of them a clock.
func (tr *tracing) follow(f *field) {
	if tr == nil {
		return
	}
	recording := func(t *orwl.Task) *trace.Recording {
		r := tr.rec.Recording(t)
		r.Region(outside.String(), 0)
		return r
	}
	for p := range f.here() {
		for _, s := range p.stages {
			s.rec = recording(s.Task)
		}
	}
	for _, x := range f.exporters {
		if x.part.node == f.nodes.Number() {
			x.watch.clock, x.watch.rec = f.clock, recording(x.Task)
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
