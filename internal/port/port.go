package port

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Default is where a process listens if it is told nothing.
const Default = "127.0.0.1:9464"

var (
	// ErrAddress is an address at which no server can listen, whatever else runs on the machine.
	ErrAddress = errors.New("want HOST:PORT, such as " + Default)
	// ErrTaken is an address at which another program listens.
	ErrTaken = errors.New("port taken")
	// ErrNoKey is an address that others than this machine can reach, in a run without a key.
	ErrNoKey = errors.New("without a cluster key the port stays on this machine")
)

// Options say where to listen, and what answers.
type Options struct {
	// Address is host:port; Default if empty. Without a host it is the loopback's, and port 0 is any that is free.
	Address string
	// Node is added to the port, unless that is 0.
	Node int
	// Key says that the run has a cluster key. Without one nothing listens beyond the loopback interface.
	Key     bool
	Handler http.Handler
	// Closing, if it is not nil, is called when the server is about to close: answers that would go on for ever end.
	Closing func()
}

// Listens is where to listen: an address whose host and port are both numbers.
func (o Options) Listens() (string, error) {
	if o.Address == "" {
		o.Address = Default
	}
	host, port, err := net.SplitHostPort(o.Address)
	if err != nil {
		return "", fmt.Errorf("%w: %q has no port", ErrAddress, o.Address)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return "", fmt.Errorf("%w: the port of %q is no number up to 65535", ErrAddress, o.Address)
	}
	if n != 0 {
		n += uint64(o.Node)
	}
	if n > 65535 {
		return "", fmt.Errorf("%w: from %q, node %d would have port %d: begin lower", ErrAddress, o.Address, o.Node, n)
	}
	if host == "" || host == "localhost" {
		host = "127.0.0.1"
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return "", fmt.Errorf("%w: the host of %q is no IP address of this machine, nor localhost", ErrAddress, o.Address)
	}
	if !ip.IsLoopback() && !o.Key {
		return "", fmt.Errorf("%w: %s would be seen by others: listen at %s, or give the run a key", ErrNoKey, o.Address, Default)
	}
	return net.JoinHostPort(host, strconv.FormatUint(n, 10)), nil
}

// Server is a port that answers.
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
func Serve(ctx context.Context, o Options) (*Server, error) {
	address, err := o.Listens()
	if err != nil {
		return nil, err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%w: %s: somebody listens there, another run perhaps: choose another address", ErrTaken, address)
	} else if err != nil {
		return nil, fmt.Errorf("listening at %s: %w", address, err)
	}
	s := &Server{address: l.Addr().String()}
	s.http = &http.Server{
		Handler: ownName(o.Handler), ReadHeaderTimeout: headerTimeout, ReadTimeout: headerTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: mostHeader,
	}
	if o.Closing != nil {
		s.http.RegisterOnShutdown(o.Closing)
	}
	stop := context.AfterFunc(ctx, func() { s.http.Close() })
	s.done.Go(func() {
		defer stop()
		if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.failure = fmt.Errorf("serving at %s: %w", s.address, err)
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

// ownName answers only requests for a name that no stranger can have: an address, localhost, this
// machine's name, or a name without a dot, as services in containers have. A page in a browser
// can give its own name this port's address, and would read what the port shows, profiles
// included.
func ownName(h http.Handler) http.Handler {
	mine, _ := os.Hostname()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.Host
		if host, _, err := net.SplitHostPort(name); err == nil {
			name = host
		}
		_, err := netip.ParseAddr(strings.Trim(name, "[]"))
		if err != nil && strings.Contains(name, ".") && !strings.EqualFold(name, mine) {
			http.Error(w, fmt.Sprintf("this port has no name %q: ask by its address, or by the name of the machine", name), http.StatusMisdirectedRequest)
			return
		}
		h.ServeHTTP(w, r)
	})
}
