package metrics

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/pprof"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/orwl/go-orwl/internal/port"
	live "github.com/orwl/go-orwl/orwl/watch"
)

// Server is the port of a process at which it is looked at.
type Server struct{ *port.Server }

// Serve listens, and answers until it is closed or ctx ends. What is wrong with the
// address, a port that is taken among it, is the error, and then nothing was started.
//
//	s, err := metrics.Serve(ctx, metrics.ServerOptions{Gatherer: registry, Ready: m.Ready})
//	...
//	defer s.Close()
func Serve(ctx context.Context, o ServerOptions) (*Server, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	at := o.port()
	at.Handler = o.handler()
	if o.Watch != nil {
		at.Closing = o.Watch.Close
	}
	s, err := port.Serve(ctx, at)
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	return &Server{s}, nil
}

// Match errors of [Serve] by these.
var (
	ErrAddress = port.ErrAddress // an address at which no server can listen, whatever else runs on the machine
	ErrTaken   = port.ErrTaken   // an address at which another program listens
	ErrNoKey   = port.ErrNoKey   // an address that others than this machine can reach, in a run without a key
)

// ServerOptions say where to listen, and what there is to see.
type ServerOptions struct {
	// Address is host:port, 127.0.0.1:9464 if empty. Without a host it is the
	// loopback's, and port 0 is any that is free.
	Address string
	// Node is added to the port, unless that is 0: so the nodes of one machine can
	// be given one address.
	Node int
	// Key says that the run has a cluster key. Without one nothing listens beyond the
	// loopback interface, since anyone who reaches the port can read what it shows.
	Key bool
	// Gatherer is what /metrics shows. Required.
	Gatherer prometheus.Gatherer
	// Inspect is what /debug/orwl shows, as JSON: the state of a runtime, for example. With
	// nil it shows nothing.
	Inspect func() any
	// Watch is the live page, at /. With nil there is a list of links.
	Watch *live.Page
	// Ready is why the node is not ready yet, or any more, nil if it is: it always
	// is if there is no Ready. See Metrics.Ready.
	Ready func() error
}

func (o ServerOptions) withDefaults() ServerOptions {
	if o.Ready == nil {
		o.Ready = func() error { return nil }
	}
	return o
}

func (o ServerOptions) validate() error {
	switch {
	case o.Gatherer == nil:
		return errors.New("metrics: ServerOptions.Gatherer is nil: want one, as prometheus.NewRegistry makes")
	case o.Node < 0:
		return fmt.Errorf("metrics: ServerOptions.Node is %d: want 0 or more", o.Node)
	}
	if _, err := o.port().Listens(); err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	return nil
}

// port is where to listen.
func (o ServerOptions) port() port.Options {
	return port.Options{Address: o.Address, Node: o.Node, Key: o.Key}
}

// handler answers what a port is asked for.
func (o ServerOptions) handler() http.Handler {
	mux := http.NewServeMux()
	if o.Watch != nil {
		o.Watch.Register(mux)
	} else {
		mux.HandleFunc("GET /{$}", index)
	}
	mux.Handle("GET /metrics", promhttp.HandlerFor(o.Gatherer, promhttp.HandlerOpts{EnableOpenMetrics: true, MaxRequestsInFlight: 4}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", o.ready)
	mux.HandleFunc("GET /debug/orwl", o.inspect)
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}

// index says what there is.
func index(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprint(w, `<!doctype html>
<title>orwl</title>
<h1>A node of an ORWL run</h1>
<ul>
<li><a href="/metrics">/metrics</a> for Prometheus
<li><a href="/healthz">/healthz</a> it answers
<li><a href="/readyz">/readyz</a> its tasks run
<li><a href="/debug/orwl">/debug/orwl</a> tasks, resources, queues, and who waits for whom, as JSON
<li><a href="/debug/pprof/">/debug/pprof</a> profiles
</ul>
`)
}

func (o ServerOptions) ready(w http.ResponseWriter, _ *http.Request) {
	if err := o.Ready(); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ready")
}

func (o ServerOptions) inspect(w http.ResponseWriter, _ *http.Request) {
	if o.Inspect == nil {
		http.Error(w, "nothing to see here: this program shows no state", http.StatusNotFound)
		return
	}
	b, err := json.MarshalIndent(o.Inspect(), "", "  ")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(append(b, '\n'))
}

// Reasons why a node is not ready.
var (
	// ErrNotStarted means that no task has begun.
	ErrNotStarted = errors.New("no task has begun yet")
	// ErrOver means that all tasks have ended.
	ErrOver = errors.New("all tasks have ended")
)

// Ready returns nil while tasks run; the nodes of the run have met by then. Otherwise it
// returns the reason.
func (m *Metrics) Ready() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	why := ErrNotStarted
	for _, t := range m.tasks {
		switch {
		case t.began.Load() == 0:
		case t.ended.Load() == 0:
			return nil
		default:
			why = ErrOver
		}
	}
	return why
}
