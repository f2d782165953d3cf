package main

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/orwl/go-orwl/orwl/stencil"
)

// figures are what this program tells Prometheus of itself, besides what every program
// that uses orwl does: how far its sweeps are, and what its blocks do. They are of this
// node's blocks, and read from what is written anyway.
type figures struct {
	field *field
	mu    sync.Mutex
	spent [stencil.Phases]time.Duration // as last told, so that it never goes back
}

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("llk23_"+name, help, labels, nil)
}

var (
	figureInfo       = describe("info", "What is computed: always 1.", "grid", "block", "kernel", "tasks")
	figureBlocks     = describe("blocks", "Blocks of this node.")
	figureIterations = describe("iterations", "Iterations that the run will do.")
	figureDone       = describe("iterations_done", "Iterations that all blocks of this node have done.")
	figurePlanned    = describe("updates_planned", "Elements that this node is to sweep, each once in each iteration.")
	figureUpdates    = describe("updates_total", "Elements that this node has swept so far, each once in each iteration.")
	figureSpent      = describe("block_seconds_total", "Time of this node's blocks, by what they do: compute, "+
		"wait for their turn, read and write frontiers, or be outside, before the first pass and after the last.", "phase")
)

// phaseLabels are the phases as metrics call them.
var phaseLabels = [stencil.Phases]string{"outside", "wait", "read", "compute", "write"}

// Describe implements prometheus.Collector.
func (g *figures) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{figureInfo, figureBlocks, figureIterations, figureDone, figurePlanned, figureUpdates, figureSpent} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (g *figures) Collect(to chan<- prometheus.Metric) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f := g.field
	tell := func(d *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, kind, value, labels...)
	}
	p := f.cells.Progress()
	tell(figureInfo, prometheus.GaugeValue, 1, f.grid.String(), f.each.String(), f.kernel.name, string(f.form))
	tell(figureBlocks, prometheus.GaugeValue, float64(p.Blocks))
	tell(figureIterations, prometheus.GaugeValue, float64(f.iters))
	tell(figureDone, prometheus.GaugeValue, float64(p.Sweeps))
	tell(figurePlanned, prometheus.GaugeValue, float64(p.Total*f.each.cells()))
	tell(figureUpdates, prometheus.CounterValue, float64(p.Done*f.each.cells()))
	for phase, spent := range f.cells.Spent() {
		g.spent[phase] = max(g.spent[phase], spent)
		tell(figureSpent, prometheus.CounterValue, g.spent[phase].Seconds(), phaseLabels[phase])
	}
}
