package metrics

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/pprof"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

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
<li><a href="/debug/pprof/">/debug/pprof</a> profiles, by the labels task and resource
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
