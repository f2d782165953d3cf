package metrics

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"
)

// Server is the port of a process at which it is looked at.
type Server struct {
	http    *http.Server
	address string
	done    sync.WaitGroup
	failure error
}

// The limits of a request. A profile takes as long as its request says, so an answer has no
// deadline.
const (
	headerTimeout = 5 * time.Second
	idleTimeout   = time.Minute
	mostHeader    = 16 << 10
	grace         = 2 * time.Second
)

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
	address, err := o.listens()
	if err != nil {
		return nil, err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%w: %s: somebody listens there, another run perhaps: choose another address", ErrTaken, address)
	} else if err != nil {
		return nil, fmt.Errorf("metrics: listening at %s: %w", address, err)
	}
	s := &Server{address: l.Addr().String()}
	s.http = &http.Server{
		Handler: ownName(o.handler()), ReadHeaderTimeout: headerTimeout, ReadTimeout: headerTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: mostHeader,
	}
	stop := context.AfterFunc(ctx, func() { s.http.Close() })
	s.done.Go(func() {
		defer stop()
		if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.failure = fmt.Errorf("metrics: serving at %s: %w", s.address, err)
		}
	})
	return s, nil
}

// Address is where it listens, as host:port.
func (s *Server) Address() string { return s.address }

// Close ends it. Answers that are under way get two seconds.
func (s *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close()
	}
	s.done.Wait()
	return errors.Join(s.failure, err)
}
