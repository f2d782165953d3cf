package resp

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// ErrServerClosed is what Serve returns after Shutdown or Close.
var ErrServerClosed = errors.New("resp: server is closed")

// Server answers redis clients. It is made by New and must not be copied.
type Server struct {
	options  Options
	table    map[string]*command
	inOrder  []*command
	password [sha256.Size]byte
	started  int64
	guesses  guesses

	// running is the context of everything that the store does.
	running context.Context
	stop    context.CancelFunc

	draining atomic.Bool
	commands atomic.Uint64 // of all connections, up to their last pipeline
	accepted atomic.Uint64
	refused  atomic.Uint64
	unknown  atomic.Uint64

	mu        sync.Mutex
	listeners map[net.Listener]struct{}
	conns     map[*conn]struct{}
	lastID    int64
	serving   sync.WaitGroup

	batches sync.Pool // of *batch
}

// New returns a server of o.Store. It does nothing before Serve.
func New(o Options) (*Server, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	o.Log = newSeldom(o.Log, o.Now)
	s := &Server{
		options: o, started: o.Now(), password: sha256.Sum256([]byte(o.Password)),
		listeners: make(map[net.Listener]struct{}), conns: make(map[*conn]struct{}),
	}
	s.batches.New = func() any { return new(batch) }
	s.running, s.stop = context.WithCancel(context.Background())
	s.inOrder = commands()
	s.table = make(map[string]*command, len(s.inOrder))
	for _, c := range s.inOrder {
		s.table[c.name] = c
	}
	return s, nil
}

// Serve answers each client that connects to l, and closes l in the end. It returns why
// l accepts no more: ErrServerClosed after Shutdown or Close.
func (s *Server) Serve(l net.Listener) error {
	defer l.Close()
	s.mu.Lock()
	if s.draining.Load() {
		s.mu.Unlock()
		return ErrServerClosed
	}
	s.listeners[l] = struct{}{}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.listeners, l)
		s.mu.Unlock()
	}()
	for wait := time.Duration(0); ; {
		link, err := l.Accept()
		if err == nil {
			wait = 0
			s.admit(link)
			continue
		}
		if s.draining.Load() {
			return ErrServerClosed
		}
		// A process that is out of file descriptors gets some back.
		var passing interface{ Temporary() bool }
		if !errors.As(err, &passing) || !passing.Temporary() {
			return err
		}
		wait = min(max(2*wait, 5*time.Millisecond), time.Second)
		s.options.Log.Error("no client can connect", "error", err, "again", wait)
		select {
		case <-time.After(wait):
		case <-s.running.Done():
		}
	}
}

// admit starts a connection, or says that there are too many.
func (s *Server) admit(link net.Conn) {
	s.mu.Lock()
	full, late := len(s.conns) >= s.options.Clients, s.draining.Load()
	if full || late {
		s.mu.Unlock()
		if full {
			s.turnAway(link, textClients)
		} else {
			link.Close()
		}
		return
	}
	if !s.options.Memory.Hold(connBytes) {
		s.mu.Unlock()
		s.turnAway(link, textNoClient)
		return
	}
	s.accepted.Add(1)
	s.lastID++
	c := s.newConn(link, s.lastID)
	s.conns[c] = struct{}{}
	s.serving.Add(1)
	s.mu.Unlock()
	go func() {
		defer s.serving.Done()
		defer s.forget(c)
		c.serve()
	}()
}

// turnAway tells a client why it is refused, and closes its connection.
func (s *Server) turnAway(link net.Conn, why string) {
	s.refused.Add(1)
	s.options.Log.Warn("client refused", "client", link.RemoteAddr().String(), "why", why, "limit", s.options.Clients)
	// A line fits an empty send buffer: this does not wait.
	link.SetWriteDeadline(time.Now().Add(lingering))
	link.Write([]byte("-" + why + "\r\n"))
	link.Close()
}

func (s *Server) forget(c *conn) {
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
}

// Shutdown lets every connection answer what it has read and closes it. When ctx is
// done it closes what is left as Close does, and returns ctx's error.
func (s *Server) Shutdown(ctx context.Context) error {
	s.end(func(c *conn) { c.link.SetReadDeadline(time.Unix(1, 0)) })
	all := make(chan struct{})
	go func() {
		s.serving.Wait()
		close(all)
	}()
	select {
	case <-all:
		s.stop()
		return nil
	case <-ctx.Done():
		s.stop()
		s.end(func(c *conn) { c.link.Close() })
		<-all
		return ctx.Err()
	}
}

// Close closes all connections at once, and returns when the store is not used any
// more.
func (s *Server) Close() error {
	s.stop()
	s.end(func(c *conn) { c.link.Close() })
	s.serving.Wait()
	return nil
}

// end accepts no more connections, and calls each for all that are open.
func (s *Server) end(each func(*conn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draining.Store(true)
	for l := range s.listeners {
		l.Close()
	}
	for c := range s.conns {
		each(c)
	}
}

// admits reports whether the password is right, in a time that does not depend on
// it.
func (s *Server) admits(user, password []byte) bool {
	given := sha256.Sum256(password)
	right := subtle.ConstantTimeCompare(given[:], s.password[:])
	return right&subtle.ConstantTimeCompare(user, []byte("default")) == 1
}
