package monitor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/metrics"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/launch"
	"github.com/orwl/go-orwl/orwl/watch"
)

// Options say what to show, and where.
type Options struct {
	Address string // the value of -metrics; empty: there is no monitor
	Place   launch.Place
	// Ready is the reason why the node is not ready, nil if it is. Without Ready, the node is ready while
	// tasks run, and the monitor shows the state of the runtime that Watch names.
	Ready func() error
	// Tables, if not nil, are shown by the page: see [watch.Page.Tables]. With Ready, and without Tables, there is no page.
	Tables func(ctx context.Context) []watch.Table
}

// contended is how many resources have a series of their own.
const contended = 8

// Monitor is the port of a node and what is behind it.
type Monitor struct {
	*metrics.Metrics
	registry *prometheus.Registry
	own      prometheus.Registerer // with the label node
	server   *metrics.Server
	read     chan struct{} // the metrics were read; Remain may not wait for it
	runtime  atomic.Pointer[orwl.Runtime]
}

// New listens. So a program learns that a port is taken before it does any work.
func New(o Options) (*Monitor, error) {
	if o.Address == "" {
		return nil, nil
	}
	registry := prometheus.NewRegistry()
	e := &Monitor{registry: registry, read: make(chan struct{}, 1)}
	e.own = prometheus.WrapRegistererWith(prometheus.Labels{"node": strconv.Itoa(o.Place.Node)}, registry)
	var err error
	if e.Metrics, err = metrics.New(metrics.Options{Registerer: registry, Node: o.Place.Node, Contended: contended}); err != nil {
		return nil, err
	}
	at := metrics.ServerOptions{
		Address: o.Address, Node: o.Place.PortOffset(), Gatherer: prometheus.GathererFunc(e.gather), Ready: o.Ready,
		Key: o.Place.Key != nil && o.Place.How != launch.Spawned, // Spawn makes a key of its own, and stays on this machine
	}
	if o.Ready == nil {
		at.Ready, at.Inspect = e.Metrics.Ready, e.inspect
	}
	if o.Ready == nil || o.Tables != nil {
		at.Watch = watch.New(e.runtime.Load)
		at.Watch.Tables(o.Tables)
	}
	e.server, err = serve(at)
	if err != nil {
		return nil, err
	}
	return e, nil
}

// Try listens for each of so many nodes in turn, and leaves the ports free. A process that starts the nodes of
// a run on its own machine calls it.
func Try(address string, nodes int) error {
	if address == "" {
		return nil
	}
	for node := range nodes {
		s, err := serve(metrics.ServerOptions{Address: address, Node: node, Gatherer: prometheus.NewRegistry()})
		if err != nil {
			return err
		}
		if err := s.Close(); err != nil {
			return err
		}
	}
	return nil
}

// serve names the flag in its errors.
func serve(o metrics.ServerOptions) (*metrics.Server, error) {
	s, err := metrics.Serve(context.Background(), o)
	switch {
	case errors.Is(err, metrics.ErrAddress) || errors.Is(err, metrics.ErrNoKey):
		err = command.Misusef("-metrics is %q: %w", o.Address, err)
	case err != nil:
		err = fmt.Errorf("-metrics is %q: %w", o.Address, err)
	}
	return s, err
}

// gather notices that the metrics are read.
func (e *Monitor) gather() ([]*dto.MetricFamily, error) {
	families, err := e.registry.Gather()
	select {
	case e.read <- struct{}{}:
	default:
	}
	return families, err
}

// Register adds metrics of the program. They get the label node.
func (e *Monitor) Register(c prometheus.Collector) error {
	if e == nil {
		return nil
	}
	return e.own.Register(c)
}

// Registerer is for metrics that have their own labels, as libp2p has. It is nil without a monitor.
func (e *Monitor) Registerer() prometheus.Registerer {
	if e == nil {
		return nil
	}
	return e.registry
}

// Observers are for [orwl.Options].
func (e *Monitor) Observers() []orwl.Observer {
	if e == nil {
		return nil
	}
	return []orwl.Observer{e.Metrics}
}

// Open logs where to look.
func (e *Monitor) Open(log *slog.Logger) {
	if e == nil {
		return
	}
	log.Info("metrics", "url", fmt.Sprintf("http://%s/metrics", e.Address()), "page", fmt.Sprintf("http://%s/", e.Address()))
}

// Nodes shows the nodes of a program that has no runtime.
func (e *Monitor) Nodes(nodes *orwl.Nodes) {
	if e != nil {
		e.Metrics.Nodes(nodes)
	}
}

// Watch shows a runtime and its nodes, in the place of the former life's. The program has declared nothing yet.
func (e *Monitor) Watch(rt *orwl.Runtime) {
	if e == nil {
		return
	}
	e.Life(rt)
	e.runtime.Store(rt)
}

// inspect tells which task waits for which.
func (e *Monitor) inspect() any {
	rt := e.runtime.Load()
	if rt == nil {
		return nil
	}
	return rt.Inspect()
}

// Address is host:port.
func (e *Monitor) Address() string { return e.server.Address() }

// Remain waits until the metrics are read once more, or for a time at most. Otherwise no reader would see
// how the run ended.
func (e *Monitor) Remain(ctx context.Context, linger time.Duration) {
	if e == nil || linger == 0 {
		return
	}
	select {
	case <-e.read: // before the end
	default:
	}
	enough := time.NewTimer(linger)
	defer enough.Stop()
	select {
	case <-e.read:
	case <-enough.C:
	case <-ctx.Done():
	}
}

// Close closes the port, after the answers that are on their way.
func (e *Monitor) Close() error {
	if e == nil {
		return nil
	}
	return e.server.Close()
}
