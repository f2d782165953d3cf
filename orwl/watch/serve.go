package watch

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/orwl/go-orwl/internal/port"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/internal/linked"
)

func init() { linked.Watch = begin }

// Variable says where the page is: 1, or HOST:PORT. Node i of a run has it at PORT+i.
const Variable = "ORWL_WATCH"

// begin serves the page of a runtime, because ORWL_WATCH says so. A page that cannot be served does not end the run.
func begin(w linked.Watched) (end func()) {
	rt := w.Runtime.(*orwl.Runtime)
	p := New(func() *orwl.Runtime { return rt })
	mux := http.NewServeMux()
	p.Register(mux)
	o := port.Options{Address: w.At, Node: w.Port, Key: w.Key, Handler: mux, Closing: p.Close}
	if w.At == "1" {
		o.Address = port.Default
	}
	s, err := port.Serve(context.Background(), o)
	elsewhere := errors.Is(err, port.ErrTaken) && w.At == "1"
	if elsewhere {
		o.Address, o.Node = "127.0.0.1:0", 0
		s, err = port.Serve(context.Background(), o)
	}
	if err != nil {
		w.Log.Error("orwl: no page shows this run", "why", fmt.Errorf("%s is %q: %w", Variable, w.At, err))
		return func() {}
	}
	if w.Node == 0 || elsewhere { // the others are at the next ports
		w.Log.Info("watch", "url", fmt.Sprintf("http://%s/", s.Address()))
	}
	return func() { _ = s.Close() } // no reader sees it
}
