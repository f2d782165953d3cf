package metrics

import (
	"context"
	"fmt"

	"github.com/orwl/go-orwl/internal/port"
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
