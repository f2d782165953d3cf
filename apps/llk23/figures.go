package main

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/stencil"
	"github.com/orwl/go-orwl/orwl/trace"
)

// figures are what this program tells Prometheus of itself, besides what every program
// that uses orwl does: how far its sweeps are, and what its blocks do. They are of this
// node's blocks in this life of the run, and read from what is written anyway.
type figures struct {
	mu    sync.Mutex
	field *field                               // nil: it has no blocks yet
	spent [stencil.Exporting + 1]time.Duration // the last values told, so that none goes back
}

// show tells of a field from now on. No figures, nil, tell nothing.
func (g *figures) show(f *field) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.field, g.spent = f, [stencil.Exporting + 1]time.Duration{}
}

// phaseLabels are the phases as metrics call them.
var phaseLabels = [stencil.Exporting + 1]string{"outside", "wait", "queued", "read", "compute", "write"}

// Describe implements prometheus.Collector.
func (g *figures) Describe(to chan<- *prometheus.Desc) { prometheus.DescribeByCollect(g, to) }

// Collect implements prometheus.Collector.
func (g *figures) Collect(to chan<- prometheus.Metric) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f := g.field
	if f == nil {
		return
	}
	tell := func(kind prometheus.ValueType, name string, value float64, help string, labels prometheus.Labels) {
		to <- prometheus.MustNewConstMetric(prometheus.NewDesc("llk23_"+name, help, nil, labels), kind, value)
	}
	const gauge, counter = prometheus.GaugeValue, prometheus.CounterValue
	done, total := f.cells.Progress()
	each, blocks := float64(f.each.cells()), 0
	for n := range f.views {
		if f.here(n) {
			blocks++
		}
	}
	tell(gauge, "info", 1, "What is computed: always 1.",
		prometheus.Labels{"grid": f.grid.String(), "block": f.each.String(), "kernel": f.kernel.name, "tasks": string(f.form)})
	tell(gauge, "blocks", float64(blocks), "Blocks of this node.", nil)
	tell(gauge, "iterations", float64(f.iters), "Iterations that the run will do.", nil)
	tell(gauge, "iterations_done", float64(f.cells.Sweeps()), "Iterations that all blocks of this node have done.", nil)
	tell(gauge, "updates_planned", float64(total)*each, "Elements that this node is to sweep, each once in each iteration.", nil)
	tell(counter, "updates_total", float64(done)*each, "Elements that this node has swept so far, each once in each iteration.", nil)
	for phase, spent := range f.cells.Spent() {
		g.spent[phase] = max(g.spent[phase], spent)
		tell(counter, "block_seconds_total", g.spent[phase].Seconds(), "Time of this node's blocks, by what they do: compute, "+
			"wait for their neighbours' frontiers, be queued until a worker is free, read and write frontiers, or be outside, before the first pass and after the last.",
			prometheus.Labels{"phase": phaseLabels[phase]})
	}
}

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
