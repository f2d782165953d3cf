package session

import (
	"bufio"
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/orwl/go-orwl/orwl/session/internal/protocol"
)

// This file has the tests of leases that end. Sessions and servers are in a bubble of
// testing/synctest, and pipes connect them: time passes only when no goroutine has anything to do. So no
// session is lost because the machine is busy.

// pipe is one end of a connection within the process. It carries nothing while it is blocked.
type pipe struct {
	net.Conn
	way *way
}

func (p pipe) Close() { p.Conn.Close() }

func (p pipe) Write(b []byte) (int, error) {
	p.way.pass()
	return p.Conn.Write(b)
}

// way is a connection to a server. It can be blocked, for both directions.
type way struct {
	mu     sync.Mutex
	passes chan struct{} // closed when bytes pass
}

func newWay() *way {
	w := &way{passes: make(chan struct{})}
	close(w.passes)
	return w
}

func (w *way) pass() {
	w.mu.Lock()
	passes := w.passes
	w.mu.Unlock()
	<-passes
}

func (w *way) block() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.passes = make(chan struct{})
}

func (w *way) open() {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.passes)
}

// serveHere is a server that only visitors reach. It is closed when the bubble ends.
func serveHere(t *testing.T, o ServerOptions) *Server {
	o.Log = slog.New(slog.DiscardHandler)
	s := newServer(o.withDefaults())
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// visitor is a session with a server, by a way. When that connection ends, it finds no other.
func visitor(t *testing.T, server *Server, w *way, who string) *Session {
	here, there := net.Pipe()
	go server.take(pipe{there, w})
	s, err := newSession(t.Context(), Options{Key: testKey, Who: who}, "no address", pipe{here, w})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestLease blocks a session's way for longer than its lease. The session lets go, and the next one
// has the lock afterwards. Messages of the first one come too late.
func TestLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := serveHere(t, ServerOptions{Listen: ":0"})
		way := newWay()
		a, b := visitor(t, server, way, "a"), visitor(t, server, newWay(), "b")
		leaseEnds(t, server, a, b, way.block, way.open)
	})
}

// TestOwnRequestsGoFirst ends a session that holds a lock and waits for it again, in front of another session. Its own
// request gets no grant on the way, so the other session learns that the holder was lost.
func TestOwnRequestsGoFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := serveHere(t, ServerOptions{Listen: ":0"})
		way := newWay()
		a, b := visitor(t, server, way, "a"), visitor(t, server, newWay(), "b")
		held := lock(t, a, "x")
		asks := func(s *Session) <-chan *Lock {
			got := make(chan *Lock, 1)
			go func() {
				l, _ := s.Lock(context.Background(), "x")
				got <- l
			}()
			synctest.Wait()
			return got
		}
		again, next := asks(a), asks(b)
		way.block()
		l := <-next
		if l == nil || l.Fence() <= held.Fence() || !errors.Is(l.Prior(), ErrPriorHolderLost) {
			t.Errorf("after fence %d the next lock is %+v, want a later fence and %v before it", held.Fence(), l, ErrPriorHolderLost)
		}
		if l := <-again; l != nil {
			t.Errorf("the session that was lost has fence %d", l.Fence())
		}
		if c := server.Counts(); c.Granted != 2 || c.Lost != 1 || c.Waiting != 0 {
			t.Errorf("the server counts %+v", c)
		}
		way.open()
	})
}

// TestPatience has a session try for long before it is admitted for the first time, and several times in a
// lease then.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if got := (&Session{client: protocol.NewClient(nil, "")}).patience(); got != firstPatience {
			t.Errorf("a session that is not admitted yet tries for %v, want %v", got, firstPatience)
		}
		s := visitor(t, serveHere(t, ServerOptions{Listen: ":0", Lease: time.Minute}), newWay(), "a")
		if got := s.patience(); got != time.Minute/3 {
			t.Errorf("a session tries for %v in a lease of a minute, want %v", got, time.Minute/3)
		}
	})
}

// TestQuarantine starts a server anew. Until the leases of the one before are over it admits no
// session, and its fences are greater.
func TestQuarantine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := serveHere(t, ServerOptions{Listen: ":0"})
		l := lock(t, visitor(t, first, newWay(), "a"), "x")
		if err := first.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond) // its fences begin with the time at which it starts
		again := serveHere(t, ServerOptions{Listen: ":1"})
		here, there := net.Pipe()
		defer here.Close()
		go again.take(pipe{there, newWay()})
		if _, err := here.Write(protocol.Message{Hello: &protocol.Hello{ID: make([]byte, 16)}}.Append(nil)); err != nil {
			t.Fatal(err)
		}
		if m, err := protocol.Next(bufio.NewReader(here)); err != nil || m.Admission == nil {
			t.Errorf("%+v, %v, want an admission", m, err)
		}
		if l.Context().Err() == nil {
			t.Error("a session is admitted while a lease of the server before may last")
		}
		<-again.Ready()
		if got := lock(t, visitor(t, again, newWay(), "b"), "x").Fence(); got <= l.Fence() {
			t.Errorf("fence %d follows %d", got, l.Fence())
		}
	})
}
