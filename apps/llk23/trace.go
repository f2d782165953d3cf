package main

import (
	"context"
	"time"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/stencil"
	"github.com/orwl/go-orwl/orwl/trace"
)

// mostSlices is how many slices a trace keeps, all nodes together.
const mostSlices = 1 << 18

// tracing is a trace that is asked for.
type tracing struct {
	most int
	rec  *trace.Recorder // nil until there is a field to follow
	done *trace.Trace    // on node 0, in the end
}

// begin records what f's runtime does from now on. No trace, nil, records nothing.
func (tr *tracing) begin(f *field) (err error) {
	if tr != nil {
		tr.rec, err = trace.NewRecorder(trace.Options{Slices: max(1, tr.most/f.rt.Nodes()), Clock: f.clock})
	}
	return err
}

// Observe implements orwl.Observer.
func (tr *tracing) Observe(e orwl.Event) {
	if tr == nil {
		return
	}
	tr.rec.Observe(e)
	if e.Kind == orwl.Began { // before its first pass a task does nothing
		tr.rec.Recording(e.Task).Region("", 0)
	}
}

// phaseNames are what a trace calls the phases. It tells waits by itself, and outside nothing is
// done.
var phaseNames = [stencil.Exporting + 1]string{"", "", "", "read", trace.Compute, "write"}

// changed is told what blocks do.
func (tr *tracing) changed(task *orwl.Task, phase stencil.Phase, at time.Duration) {
	tr.rec.Recording(task).Region(phaseNames[phase], at)
}

// gather brings what all nodes have recorded to node 0. Each of them calls it, and says
// for how long it has swept.
func (tr *tracing) gather(ctx context.Context, f *field, took time.Duration) (err error) {
	if tr == nil {
		return nil
	}
	tr.rec.Span(0, took)
	tr.done, err = tr.rec.Gather(ctx, f.rt)
	return err
}
