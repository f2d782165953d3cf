package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/freeport"
	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/net/p2p"
	"github.com/orwl/go-orwl/net/p2p/p2ptest"
	"github.com/orwl/go-orwl/net/p2p/rendezvous"
	"github.com/orwl/go-orwl/orwl/session/internal/protocol"
)

// TestOrder has sessions ask one after the other. They are served in this order.
func TestOrder(t *testing.T) {
	t.Parallel()
	server := serve(t, nil)
	first := dial(t, server.Address(), "first")
	held := lock(t, first, "x")
	const others = 5
	got := make(chan int, others)
	var order []int
	fences := []uint64{held.Fence()}
	for i := range others {
		s := dial(t, server.Address(), fmt.Sprint(i))
		go func() {
			l, err := s.Lock(context.Background(), "x")
			if err != nil {
				t.Error(err)
				return
			}
			fences, order = append(fences, l.Fence()), append(order, i) // under the lock
			if err := l.Unlock(context.Background()); err != nil {
				t.Error(err)
			}
			got <- i
		}()
		queued(t, first, "x", 2+i)
	}
	unlock(t, held)
	for range others {
		select {
		case <-got:
		case <-soon(t).Done():
			t.Fatal("nobody is served")
		}
	}
	for i := range others {
		if order[i] != i {
			t.Errorf("the order is %v", order)
		}
		if fences[i+1] <= fences[i] {
			t.Errorf("fences %v, want each greater than the one before", fences)
		}
	}
}

// TestBytes reads what the holder before has committed, and not what it has not.
func TestBytes(t *testing.T) {
	t.Parallel()
	server := serve(t, nil)
	a, b := dial(t, server.Address(), "a"), dial(t, server.Address(), "b")
	ctx := soon(t)
	l := lock(t, a, "x")
	if got, err := l.Read(ctx); err != nil || len(got) != 0 {
		t.Errorf("a new lock has %q, %v", got, err)
	}
	if err := l.Write(ctx, []byte("thirteen byte")); err != nil {
		t.Fatal(err)
	}
	if got, err := l.Read(ctx); err != nil || string(got) != "thirteen byte" {
		t.Errorf("the writer reads %q, %v", got, err)
	}
	if err := l.Write(ctx, make([]byte, protocol.MaxBytes+8)); !errors.Is(err, ErrRefused) {
		t.Errorf("too many bytes: %v, want ErrRefused", err)
	}
	unlock(t, l)
	if err := l.Write(ctx, nil); !errors.Is(err, ErrLost) {
		t.Errorf("a write after unlock: %v, want ErrLost", err)
	}
	if err := l.Unlock(ctx); !errors.Is(err, ErrLost) {
		t.Errorf("unlocked twice: %v, want ErrLost", err)
	}
	r1, err := a.RLock(ctx, "x")
	if err != nil {
		t.Fatal(err)
	}
	r2, err := b.RLock(ctx, "x")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := r2.Read(ctx); err != nil || string(got) != "thirteen byte" || r2.Version() != 1 {
		t.Errorf("a reader reads %q of version %d, %v", got, r2.Version(), err)
	}
	if err := r2.Write(ctx, nil); !errors.Is(err, ErrRefused) {
		t.Errorf("a reader writes: %v, want ErrRefused", err)
	}
	unlock(t, r1)
	unlock(t, r2)
	l = lock(t, a, "x")
	if err := l.Write(ctx, make([]byte, protocol.MaxBytes)); err != nil {
		t.Fatal(err)
	}
	unlock(t, l)
	l = lock(t, a, "x")
	if err := l.Write(ctx, []byte("halfway.")); err != nil {
		t.Fatal(err)
	}
	a.Close()
	l = lock(t, b, "x")
	if got, err := l.Read(ctx); err != nil || len(got) != protocol.MaxBytes {
		t.Errorf("after a holder that left: %d bytes, %v", len(got), err)
	}
	if !errors.Is(l.Prior(), ErrPriorHolderLost) {
		t.Errorf("Prior is %v, want ErrPriorHolderLost", l.Prior())
	}
	unlock(t, l)
	if l = lock(t, b, "x"); l.Prior() != nil {
		t.Errorf("Prior is %v, after a holder that ended well", l.Prior())
	}
}

// TestTry takes what is free, and does not wait. A wait that ends leaves nothing behind.
func TestTry(t *testing.T) {
	t.Parallel()
	server := serve(t, nil)
	a, b := dial(t, server.Address(), "a"), dial(t, server.Address(), "b")
	l, err := a.TryLock(soon(t), "x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.TryLock(soon(t), "x"); !errors.Is(err, ErrBusy) {
		t.Errorf("%v, want ErrBusy", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	went := make(chan error)
	go func() {
		_, err := b.Lock(ctx, "x")
		went <- err
	}()
	queued(t, a, "x", 2)
	why := errors.New("enough")
	cancel(why)
	if err := <-went; !errors.Is(err, why) {
		t.Errorf("%v, want the context's cause", err)
	}
	queued(t, a, "x", 1)
	unlock(t, l)
	unlock(t, lock(t, b, "x"))
	if _, err := b.Lock(soon(t), ""); !errors.Is(err, ErrRefused) {
		t.Errorf("no name: %v, want ErrRefused", err)
	}
	for range 50 { // the grant may be on its way
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(len(why.Error()))*20*time.Microsecond)
		if l, err := a.Lock(ctx, "x"); err == nil {
			unlock(t, l)
		}
		cancel()
	}
	unlock(t, lock(t, b, "x"))
}

// TestList shows holders and queues.
func TestList(t *testing.T) {
	t.Parallel()
	server := serve(t, nil)
	a, b := dial(t, server.Address(), "a"), dial(t, server.Address(), "b")
	l := lock(t, a, "jobs/1")
	lock(t, a, "jobs/2")
	lock(t, a, "other")
	go b.Lock(t.Context(), "jobs/1")
	queued(t, a, "jobs/1", 2)
	states, err := b.List(soon(t), "jobs/")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range states {
		names = append(names, s.Name)
	}
	if fmt.Sprint(names) != "[jobs/1 jobs/2]" {
		t.Fatalf("the list has %v", names)
	}
	h, w := states[0].Requests[0], states[0].Requests[1]
	if h.Who != "a" || !h.Held || h.Fence != l.Fence() || w.Who != "b" || w.Held || w.Fence != 0 {
		t.Errorf("the queue is %+v", states[0].Requests)
	}
	const each = 250
	for i := range 4 { // more than one message holds
		s := dial(t, server.Address(), "many")
		for j := range each {
			lock(t, s, fmt.Sprintf("many/%04d", i*each+j))
		}
	}
	states, err = a.List(soon(t), "many/")
	if err != nil || len(states) != 4*each {
		t.Errorf("the list has %d locks, want %d: %v", len(states), 4*each, err)
	}
}

// TestRevoke releases a lock by force. The next one waits until the holder has let go.
func TestRevoke(t *testing.T) {
	t.Parallel()
	server := serve(t, nil)
	a, b := dial(t, server.Address(), "a"), dial(t, server.Address(), "b")
	l := lock(t, a, "x")
	next := make(chan *Lock)
	go func() {
		l, err := b.Lock(context.Background(), "x")
		if err != nil {
			t.Error(err)
		}
		next <- l
	}()
	queued(t, b, "x", 2)
	if n, err := b.Revoke(soon(t), "x", l.Fence()+1); n != 0 || err != nil {
		t.Errorf("another fence: %d, %v", n, err)
	}
	if n, err := b.Revoke(soon(t), "x", l.Fence()); n != 1 || err != nil {
		t.Errorf("the fence: %d, %v", n, err)
	}
	if why := ends(t, l); !errors.Is(why, ErrRevoked) {
		t.Errorf("the context ends by %v, want ErrRevoked", why)
	}
	if s := queued(t, b, "x", 2); !s.Requests[0].Held || !s.Requests[0].Revoked || s.Requests[1].Held {
		t.Errorf("the queue is %+v", s.Requests)
	}
	if c := server.Counts(); c.Held != 1 || c.Waiting != 1 || c.Forced != 1 || c.Lost != 0 {
		t.Errorf("the server counts %+v", c)
	}
	unlock(t, l)
	unlock(t, <-next)
}

// TestReconnect cuts a session's connections. It keeps what it holds and its place.
func TestReconnect(t *testing.T) {
	t.Parallel()
	server := serve(t, nil)
	way := newRoad(t, server.Address())
	a, b, c := dial(t, way.address(), "a"), dial(t, way.address(), "b"), dial(t, server.Address(), "c")
	l := lock(t, a, "x")
	order := make(chan string, 2)
	for i, s := range []*Session{b, c} {
		go func() {
			l, err := s.Lock(context.Background(), "x")
			if err != nil {
				t.Error(err)
				return
			}
			order <- []string{"b", "c"}[i]
			l.Unlock(context.Background())
		}()
		queued(t, c, "x", 2+i)
	}
	for range 3 {
		way.cut()
		if err := l.Write(soon(t), []byte("thirteen byte")); err != nil {
			t.Fatal(err)
		}
	}
	way.cut()
	unlock(t, l)
	if got := <-order + <-order; got != "bc" {
		t.Errorf("the order is %s, want bc", got)
	}
	if l := lock(t, c, "x"); l.Version() != 1 {
		t.Errorf("%d writes were committed, want 1", l.Version())
	}
}

// TestLeaseOfNetwork blocks a session's way over the network for longer than its lease.
func TestLeaseOfNetwork(t *testing.T) {
	rings.Silence(t)
	server := serve(t, func(o *ServerOptions) { o.Lease = hurried })
	way := newRoad(t, server.Address())
	a, b := dial(t, way.address(), "a"), dial(t, server.Address(), "b")
	leaseEnds(t, server, a, b, way.block, way.open)
}

// TestQuarantineOfNetwork starts a server anew at the same address. A session waits until the leases of
// the one before are over.
func TestQuarantineOfNetwork(t *testing.T) {
	rings.Silence(t)
	address := freeport.Address(t) // which is free after the first server, too
	first := serve(t, func(o *ServerOptions) { o.Lease, o.Listen = hurried, address })
	l := lock(t, dial(t, address, "a"), "x")
	if err := first.Close(soon(t)); err != nil {
		t.Fatal(err)
	}
	again := serve(t, func(o *ServerOptions) { o.Lease, o.Listen = hurried, address })
	s := dial(t, address, "b") // waits
	if l.Context().Err() == nil {
		t.Error("a session is admitted while a lease of the server before may last")
	}
	<-again.Ready()
	if got := lock(t, s, "x").Fence(); got <= l.Fence() {
		t.Errorf("fence %d follows %d", got, l.Fence())
	}
}

// leaseEnds blocks the way of session a until its lease ends while it holds a lock. The session lets
// go, and b has the lock afterwards. Messages of a come too late.
func leaseEnds(t *testing.T, server *Server, a, b *Session, block, open func()) {
	t.Helper()
	l := lock(t, a, "x")
	next := make(chan *Lock)
	go func() {
		l, err := b.Lock(context.Background(), "x")
		if err != nil {
			t.Error(err)
		}
		next <- l
	}()
	queued(t, b, "x", 2)
	block()
	late := make(chan error)
	go func() { late <- l.Write(context.Background(), []byte("too late")) }()
	second := <-next
	if l.Context().Err() == nil {
		t.Error("the next one has the lock before the holder has let go")
	}
	if why := ends(t, l); !errors.Is(why, ErrLost) || !errors.Is(why, ErrOver) {
		t.Errorf("the context ends by %v, want ErrLost and ErrOver", why)
	}
	open()
	if err := <-late; !errors.Is(err, ErrLost) {
		t.Errorf("a late write: %v, want ErrLost", err)
	}
	if !errors.Is(second.Prior(), ErrPriorHolderLost) || second.Fence() <= l.Fence() {
		t.Errorf("prior %v, fence %d after %d", second.Prior(), second.Fence(), l.Fence())
	}
	if c := server.Counts(); c.Sessions != 1 || c.Opened != 2 || c.Expired != 1 || c.Held != 1 || c.Granted != 2 || c.Lost != 1 || c.Forced != 0 {
		t.Errorf("the server counts %+v", c)
	}
	if b, err := second.Read(soon(t)); err != nil || len(b) != 0 {
		t.Errorf("the late write is there: %q, %v", b, err)
	}
	select {
	case <-a.Done():
	case <-soon(t).Done():
		t.Error("the session is not done")
	}
	if !errors.Is(a.Err(), ErrOver) {
		t.Errorf("the session ended by %v, want ErrOver", a.Err())
	}
	if _, err := a.Lock(soon(t), "x"); !errors.Is(err, ErrOver) {
		t.Errorf("lock after the end: %v, want ErrOver", err)
	}
}

// TestStrangers have another key, or find no server.
func TestStrangers(t *testing.T) {
	t.Parallel()
	server := serve(t, nil)
	if _, err := Dial(soon(t), Options{Addresses: []string{server.Address()}, Key: []byte("the key of another run")}); !errors.Is(err, p2p.ErrStranger) {
		t.Errorf("another key: %v, want ErrStranger", err)
	}
	if _, err := Dial(soon(t), Options{Addresses: []string{"127.0.0.1:1"}, Key: testKey}); err == nil || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("nobody: %v", err)
	}
	s, err := Dial(soon(t), Options{Addresses: []string{"127.0.0.1:1", server.Address()}, Key: testKey})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	for _, o := range []ServerOptions{{Lease: 1}, {Skew: time.Second}, {Listen: "0.0.0.0:0"}, {Listen: "127.0.0.1:0", Key: []byte("short")}} {
		if s, err := Listen(soon(t), o); err == nil {
			t.Errorf("%+v is taken", o)
			s.Close(soon(t))
		}
	}
}

// TestHostile says what no session says. The connection ends, and others do not notice.
func TestHostile(t *testing.T) {
	t.Parallel()
	server := serve(t, nil)
	other := dial(t, server.Address(), "other")
	l := lock(t, other, "x")
	hello := protocol.Message{Hello: &protocol.Hello{ID: make([]byte, 16)}}.Append(nil)
	for what, b := range map[string][]byte{
		"noise":            []byte("GET / HTTP/1.1\r\n\r\n"),
		"a message of 4 G": {255, 255, 255, 255},
		"no hello":         protocol.Message{Beat: &protocol.Beat{}}.Append(nil),
		"a gap":            protocol.Message{Number: 9, List: &protocol.List{}}.Append(hello),
		"a home's word":    protocol.Message{Number: 1, Lost: &protocol.Loss{}}.Append(hello),
		"half a message":   hello[:len(hello)-1],
	} {
		stream, err := p2p.DialSession(soon(t), p2p.SessionOptions{Address: server.Address(), Key: testKey})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := stream.Write(b); err != nil {
			t.Fatal(err)
		}
		if what == "half a message" {
			stream.Close()
			continue
		}
		stream.SetDeadline(time.Now().Add(patience))
		for b := make([]byte, 1<<10); err == nil; {
			_, err = stream.Read(b)
		}
		if strings.Contains(err.Error(), "deadline") {
			t.Errorf("%s: the connection stays", what)
		}
		stream.Close()
	}
	if err := l.Context().Err(); err != nil {
		t.Error(err)
	}
	unlock(t, l)
}

// TestFind finds a server by a user's discovery on a user's host. A second server with the key is
// told of the first, and a session that finds no server says so.
func TestFind(t *testing.T) {
	t.Parallel()
	board := new(p2ptest.Board)
	h, err := p2ptest.Host(testKey, 0, 1, p2ptest.TCP)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	way := func(o *ServerOptions) { o.Find = &rendezvous.Way{Discovery: board.For(h), Host: h} }
	look := Options{Key: testKey, Find: &rendezvous.Way{Discovery: board.For(nil), Patience: time.Millisecond}}
	if _, err := Dial(soon(t), look); !errors.Is(err, rendezvous.ErrNobody) {
		t.Errorf("nobody is there: %v, want ErrNobody", err)
	}
	serve(t, way)
	look.Find.Patience = patience
	s, err := Dial(soon(t), look)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	unlock(t, lock(t, s, "x"))
	o := ServerOptions{Listen: "127.0.0.1:0", Key: testKey}
	way(&o)
	if _, err := Listen(soon(t), o); !errors.Is(err, ErrTwin) {
		t.Errorf("a second server: %v, want ErrTwin", err)
	}
	if o.Key = nil; o.validate() == nil {
		t.Error("a server without a key is to be found by it")
	}
}
