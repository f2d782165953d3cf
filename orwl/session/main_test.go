package session

import (
	"context"
	"io"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience ends a test that hangs. No test depends on it.
const patience = time.Minute

// hurried is a lease for tests of real silence, which wait until it is over. unhurried is one for all
// others: no session is lost, however busy the machine is.
const (
	hurried   = 2 * time.Second
	unhurried = time.Minute
)

var testKey = []byte("the key of this test")

func soon(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// serve is a server that is closed when the test ends.
func serve(t testing.TB, change func(o *ServerOptions)) *Server {
	t.Helper()
	o := ServerOptions{Listen: "127.0.0.1:0", Key: testKey, Lease: unhurried, Log: slog.New(slog.DiscardHandler)}
	if change != nil {
		change(&o)
	}
	s, err := Listen(soon(t), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// dial is a session that is closed when the test ends.
func dial(t testing.TB, address, who string) *Session {
	t.Helper()
	s, err := Dial(soon(t), Options{Addresses: []string{address}, Key: testKey, Who: who})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// lock locks, or ends the test.
func lock(t testing.TB, s *Session, name string) *Lock {
	t.Helper()
	l, err := s.Lock(soon(t), name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func unlock(t testing.TB, l *Lock) {
	t.Helper()
	if err := l.Unlock(soon(t)); err != nil {
		t.Fatal(err)
	}
}

// ends waits for the end of a lock's context, and returns why.
func ends(t testing.TB, l *Lock) error {
	t.Helper()
	select {
	case <-l.Context().Done():
		return context.Cause(l.Context())
	case <-soon(t).Done():
		t.Fatal("the lock's context does not end")
		return nil
	}
}

// queued waits until so many requests are in the queue of a name.
func queued(t testing.TB, s *Session, name string, n int) State {
	t.Helper()
	for state, err := range s.Watch(soon(t), name) {
		if err != nil {
			t.Fatal(err)
		}
		if state.Length == n {
			return state
		}
	}
	panic("Watch has ended without an error")
}

// road is a way to a server that can be cut, and blocked so that nothing passes.
type road struct {
	net.Listener
	to string

	mu      sync.Mutex
	conns   []net.Conn
	blocked chan struct{} // closed when bytes pass
}

// newRoad leads to an address, until the test ends.
func newRoad(t testing.TB, to string) *road {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &road{Listener: l, to: to, blocked: make(chan struct{})}
	close(r.blocked)
	var group sync.WaitGroup
	group.Go(func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			group.Go(func() { r.carry(from, &group) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		r.open()
		r.cut()
		group.Wait()
	})
	return r
}

func (r *road) carry(from net.Conn, group *sync.WaitGroup) {
	to, err := net.Dial("tcp", r.to)
	if err != nil {
		from.Close()
		return
	}
	r.mu.Lock()
	r.conns = append(r.conns, from, to)
	r.mu.Unlock()
	group.Go(func() { r.copy(from, to) })
	r.copy(to, from)
}

func (r *road) copy(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	b := make([]byte, 1<<14)
	for {
		n, err := from.Read(b)
		r.mu.Lock()
		passes := r.blocked
		r.mu.Unlock()
		<-passes
		if _, failed := to.Write(b[:n]); err != nil || failed != nil {
			return
		}
	}
}

// cut ends all connections.
func (r *road) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.conns {
		c.Close()
	}
	r.conns = nil
}

// block holds all bytes until open, also the bytes of new connections.
func (r *road) block() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.blocked = make(chan struct{})
}

func (r *road) open() {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-r.blocked:
	default:
		close(r.blocked)
	}
}

func (r *road) address() string { return r.Addr().String() }

var _ io.Closer = (*road)(nil)
