package main

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/orwl/go-orwl/metrics"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/launch"
)

// exhibit is what others can see of this node while it runs, at the port that -metrics
// names. No exhibit shows nothing, and costs nothing.
type exhibit struct {
	registry *prometheus.Registry
	metrics  *metrics.Metrics
	figures  *figures
	server   *metrics.Server
	seen     chan struct{} // somebody has read the metrics; there may be nobody who waits for that

	runtime atomic.Pointer[orwl.Runtime]
}

// newExhibit listens, so that a port that is taken is noticed before any work is done. A
// process that only starts others tries their ports, and leaves them free.
func newExhibit(o options, place launch.Place, spawns bool) (*exhibit, error) {
	if o.metrics == "" {
		return nil, nil
	}
	registry := prometheus.NewRegistry()
	at := metrics.ServerOptions{Address: o.metrics, Gatherer: registry, Key: place.Key != nil && place.How != launch.Spawned}
	if spawns && o.ssh != "" {
		return nil, nil // the ports are not of this machine
	}
	if spawns {
		at.Key = false // they get one that nobody else has, and all are on this machine
		return nil, try(at, o.nodes)
	}
	at.Node = place.PortOffset()
	e := &exhibit{registry: registry, figures: new(figures), seen: make(chan struct{}, 1)}
	var err error
	if e.metrics, err = metrics.New(metrics.Options{Registerer: registry, Node: place.Node}); err != nil {
		return nil, err
	}
	labels := prometheus.Labels{"node": strconv.Itoa(place.Node)}
	if err := prometheus.WrapRegistererWith(labels, registry).Register(e.figures); err != nil {
		return nil, err
	}
	at.Gatherer, at.Ready, at.Inspect = e.watched(registry), e.metrics.Ready, e.inspect
	e.server, err = metrics.Serve(context.Background(), at)
	if err != nil {
		return nil, err
	}
	return e, nil
}

// try listens for each of so many nodes in turn.
func try(at metrics.ServerOptions, nodes int) error {
	for at.Node = range nodes {
		s, err := metrics.Serve(context.Background(), at)
		if err != nil {
			return err
		}
		if err := s.Close(); err != nil {
			return err
		}
	}
	return nil
}

// watched notices that somebody gathers.
func (e *exhibit) watched(g prometheus.Gatherer) prometheus.Gatherer {
	return prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		families, err := g.Gather()
		select {
		case e.seen <- struct{}{}:
		default:
		}
		return families, err
	})
}

// registerer is who gets the metrics of libp2p.
func (e *exhibit) registerer() prometheus.Registerer {
	if e == nil {
		return nil
	}
	return e.registry
}

// observers are those that the runtime tells what its tasks do.
func (e *exhibit) observers() []orwl.Observer {
	if e == nil {
		return nil
	}
	return []orwl.Observer{e.metrics}
}

// open says where to look, and shows the nodes of the run.
func (e *exhibit) open(nodes *orwl.Nodes, log *slog.Logger) {
	if e == nil {
		return
	}
	e.metrics.Nodes(nodes)
	log.Info("metrics", "url", fmt.Sprintf("http://%s/metrics", e.server.Address()))
}

// follow shows what a runtime and the blocks of a field do.
func (e *exhibit) follow(rt *orwl.Runtime, f *field) {
	if e == nil {
		return
	}
	e.metrics.Watch(rt)
	e.figures.follow(f)
	e.runtime.Store(rt)
}

// inspect is who holds what and who waits for whom.
func (e *exhibit) inspect() any {
	rt := e.runtime.Load()
	if rt == nil {
		return nil
	}
	return rt.Inspect()
}

// remain waits until the metrics have been read once more, for a time at most, since
// otherwise nobody would see what has become of the run.
func (e *exhibit) remain(ctx context.Context, linger time.Duration) {
	if e == nil || linger == 0 {
		return
	}
	select {
	case <-e.seen: // before the end
	default:
	}
	enough := time.NewTimer(linger)
	defer enough.Stop()
	select {
	case <-e.seen:
	case <-enough.C:
	case <-ctx.Done():
	}
}

// close closes the port, when those that are being answered have been.
func (e *exhibit) close() error {
	if e == nil {
		return nil
	}
	return e.server.Close()
}
