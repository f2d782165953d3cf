package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/orwl/go-orwl/apps/dht/resp"
	"github.com/orwl/go-orwl/apps/dht/table"
	"github.com/orwl/go-orwl/internal/monitor"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/launch"
	"github.com/orwl/go-orwl/orwl/watch"
	"github.com/orwl/go-orwl/resource"
)

// display is what others can see of a node while it serves. Without -metrics there is no monitor, and
// nothing is measured.
type display struct {
	*monitor.Monitor
	times   *prometheus.HistogramVec
	guard   string
	serving atomic.Bool
	table   atomic.Pointer[table.Strings] // nil before it serves
}

// errNotServing is why a node is not ready.
var errNotServing = errors.New("the nodes have not met yet, so no client is served")

// ready is nil when clients are served.
func (e *display) ready() error {
	if e.serving.Load() {
		return nil
	}
	return errNotServing
}

// show listens, so that a taken port is noticed before the first client is served.
func show(address, guard string, place launch.Place) (_ *display, err error) {
	e := &display{guard: guard}
	if e.Monitor, err = monitor.New(monitor.Options{Address: address, Place: place, Ready: e.ready, Tables: e.tables}); err != nil {
		return nil, err
	}
	e.times = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "dht_command_seconds", Help: "Time of a pipeline of commands, from when it was read to when its replies were written, by the last of them.",
		Buckets: prometheus.ExponentialBuckets(4e-6, 2, 20), NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 160,
	}, []string{"command"})
	return e, e.Register(e.times)
}

// watch counts and times the accesses to a volume.
func (e *display) watch() func(*resource.Resource) {
	if e.Monitor == nil {
		return nil
	}
	return func(r *resource.Resource) { e.Relaxed(r, e.guard) }
}

// timed is told how long pipelines take.
func (e *display) timed() func(command string, took time.Duration) {
	if e.Monitor == nil {
		return nil
	}
	return func(command string, took time.Duration) { e.times.WithLabelValues(command).Observe(took.Seconds()) }
}

// follow shows the nodes, the table and the server.
func (e *display) follow(nodes *orwl.Nodes, t *table.Strings, s *resp.Server, log *slog.Logger) error {
	e.Open(log)
	e.Nodes(nodes)
	e.table.Store(t)
	e.serving.Store(true)
	return e.Register(&figures{table: t, server: s, done: make(map[string]uint64)})
}

// tables are the volumes of all nodes, as the page shows them.
func (e *display) tables(ctx context.Context) []watch.Table {
	t := e.table.Load()
	if t == nil {
		return nil
	}
	volumes, err := t.Volumes(ctx)
	if err != nil {
		return nil // the page asks again
	}
	shown := watch.Table{
		Title: "Volumes of the hash table",
		Columns: []watch.Column{
			{Name: "keys", Kind: watch.Number}, {Name: "memory", Kind: watch.Bytes}, {Name: "locked, a second", Kind: watch.Rate},
			{Name: "of that, behind another one", Kind: watch.Share}, {Name: "unfairness", Kind: watch.Number},
		},
		Note: "A volume has a part of the keys, and a lock: " + e.guard + ". Unfairness: how much the acquisitions of the lock's ranks differ; 0 is fair.",
	}
	for _, v := range volumes {
		shown.Rows = append(shown.Rows, watch.Row{Name: fmt.Sprintf("volume %d, node %d", v.Number, v.Node), Values: []float64{
			float64(v.Keys), float64(v.Bytes), float64(v.Acquired), float64(v.Waited) / float64(max(1, v.Acquired)), v.Unfair,
		}})
	}
	return []watch.Table{shown}
}

// figures are what a table and a server have counted.
type figures struct {
	table  *table.Strings
	server *resp.Server

	mu   sync.Mutex
	done map[string]uint64 // commands that were answered with no error, as last told
}

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("dht_"+name, help, labels, nil)
}

var (
	figureCommands    = describe("commands_total", "Commands of clients, by what became of them: ok, full if there was no room, or error.", "command", "outcome")
	figureUnknown     = describe("unknown_commands_total", "Commands that there are none of.")
	figureConnections = describe("connections", "Clients that are connected.")
	figureAccepted    = describe("accepted_connections_total", "Clients that have connected.")
	figureRefused     = describe("refused_connections_total", "Clients that were refused, since there were too many.")
	figureKeys        = describe("keys", "Keys that this node keeps.")
	figureBytes       = describe("volume_bytes", "Memory of the volumes that this node keeps.")
)

// Describe implements prometheus.Collector.
func (f *figures) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{figureCommands, figureUnknown, figureConnections, figureAccepted, figureRefused, figureKeys, figureBytes} {
		to <- d
	}
}

// patienceOfScrape is how long a scrape waits for the volumes.
const patienceOfScrape = time.Second

// Collect implements prometheus.Collector. It also shows commands that no client has sent yet:
// Prometheus sees an increase only of a series that was there before.
func (f *figures) Collect(to chan<- prometheus.Metric) {
	tell := func(d *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, kind, value, labels...)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.server.Counts()
	for _, command := range c.Commands {
		// A failure is counted before its command is, and no counter goes back.
		f.done[command.Name] = max(f.done[command.Name], command.Calls-min(command.Failed, command.Calls))
		tell(figureCommands, prometheus.CounterValue, float64(f.done[command.Name]), command.Name, "ok")
		tell(figureCommands, prometheus.CounterValue, float64(command.Full), command.Name, "full")
		tell(figureCommands, prometheus.CounterValue, float64(command.Failed-min(command.Full, command.Failed)), command.Name, "error")
	}
	tell(figureUnknown, prometheus.CounterValue, float64(c.Unknown))
	tell(figureConnections, prometheus.GaugeValue, float64(c.Connections))
	tell(figureAccepted, prometheus.CounterValue, float64(c.Accepted))
	tell(figureRefused, prometheus.CounterValue, float64(c.Refused))
	ctx, cancel := context.WithTimeout(context.Background(), patienceOfScrape)
	defer cancel()
	if keys, bytes, err := f.table.Here(ctx); err == nil {
		tell(figureKeys, prometheus.GaugeValue, float64(keys))
		tell(figureBytes, prometheus.GaugeValue, float64(bytes))
	}
}
