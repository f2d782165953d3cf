package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peerstore"
	"github.com/libp2p/go-libp2p/core/transport"
	"github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
	"go.uber.org/goleak"

	"github.com/orwl/go-orwl/internal/freeport"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pair is two hosts of a run. The second listens at an address.
func pair(t *testing.T, hello time.Duration) (here, there *Host, address string) {
	t.Helper()
	hosts := make([]*Host, 2)
	for i := range hosts {
		h, err := New(Options{Number: i, Nodes: 2, Hello: hello, Stranger: func(string) { t.Error("a stranger") }, Talk: func() uint64 { return 0 }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := h.Close(); err != nil {
				t.Error(err)
			}
		})
		hosts[i] = h
	}
	address, err := hosts[1].Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return hosts[0], hosts[1], address
}

func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// TestDeaf dials a host that has taken streams and does so no more.
func TestDeaf(t *testing.T) {
	here, there, address := pair(t, time.Minute)
	for _, kind := range []Kind{Control, Data} {
		c, err := here.Dial(soon(t), 1, address, kind)
		if err != nil {
			t.Fatal(err)
		}
		other, number, err := there.Accept()
		if err != nil || number != 0 || other.Kind() != kind {
			t.Errorf("a stream of node %d for the %v lane, %v, want node 0 and %v", number, other.Kind(), err, kind)
		}
		c.Close()
	}
	there.Deafen()
	for _, kind := range []Kind{Control, Data} {
		if _, err := here.Dial(soon(t), 1, address, kind); !errors.Is(err, ErrNobody) {
			t.Errorf("the %v lane: %v, want ErrNobody", kind, err)
		}
	}
	if _, _, err := there.Accept(); !errors.Is(err, ErrDeaf) {
		t.Errorf("%v, want ErrDeaf", err)
	}
}

// libp2p forgets addresses when a connection ends, and when a peer names its own. Here it does so all the time, and
// each call still finds the address that it was given.
func TestForgottenAddresses(t *testing.T) {
	here, there, address := pair(t, time.Minute)
	defer there.Deafen()
	id := there.ID()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				for _, ttl := range []time.Duration{peerstore.ConnectedAddrTTL, peerstore.RecentlyConnectedAddrTTL, peerstore.TempAddrTTL} {
					here.Peerstore().UpdateAddrs(id, ttl, 0)
				}
				runtime.Gosched()
			}
		}
	}()
	for range 30 {
		c, err := here.Dial(soon(t), 1, address, Control)
		if err != nil {
			t.Error(err)
			break
		}
		c.Close()
		if err := here.Network().ClosePeer(id); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	<-stopped
}

// A node may tell libp2p of addresses at which it listens behind something else. It is dialled at the address
// that was given, and at no other.
func TestDialsTheGivenAddress(t *testing.T) {
	here, there, address := pair(t, time.Minute)
	defer there.Deafen()
	l, err := net.Listen("tcp", freeport.Address(t)) // a low port, which libp2p dials first
	if err != nil {
		t.Fatal(err)
	}
	dialled := make(chan int)
	go func() {
		n := 0
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			n++
			c.Close()
		}
		dialled <- n
	}()
	other, err := manet.FromNetAddr(l.Addr())
	if err != nil {
		t.Fatal(err)
	}
	here.Peerstore().AddAddr(there.ID(), other, peerstore.PermanentAddrTTL)
	for range 10 {
		c, err := here.Dial(soon(t), 1, address, Control)
		if err != nil {
			t.Fatal(err)
		}
		if is, err := HostPort(c.Remote()); err != nil || is != address {
			t.Errorf("the connection is to %s, %v, and not to %s", is, err, address)
		}
		c.Close()
		if err := here.Network().ClosePeer(there.ID()); err != nil {
			t.Error(err)
		}
	}
	l.Close()
	if n := <-dialled; n > 0 {
		t.Errorf("an address that nobody has given was dialled %d times", n)
	}
}

// TestMostConnections opens as many connections as a peer may have, and one more.
func TestMostConnections(t *testing.T) {
	here, there, address := pair(t, time.Minute)
	defer there.Deafen()
	for i := range mostConns + 1 {
		c, err := here.DialBeside(soon(t), 1, address, Data)
		if (err == nil) != (i < mostConns) {
			t.Fatalf("connection %d of at most %d: %v", i+1, mostConns, err)
		}
		if err == nil {
			defer c.Close()
		}
	}
}

// TestSilentStream opens a stream and names no protocol for it. The other side
// ends it. A connection must be secured within the same time, so a slow machine gets more of it.
func TestSilentStream(t *testing.T) {
	for hello := time.Second / 4; hello < time.Minute; hello *= 4 {
		if silentStream(t, hello) {
			return
		}
	}
	t.Error("no connection is secured within a minute")
}

// silentStream reports whether there was a connection in time.
func silentStream(t *testing.T, hello time.Duration) bool {
	here, there, address := pair(t, hello)
	defer there.Deafen()
	at, err := resolve(t.Context(), address, false)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := here.own.dialling[Control].Dial(soon(t), at[0], here.ids[1])
	if err != nil {
		return false
	}
	defer conn.Close()
	s, err := conn.OpenStream(soon(t))
	if err == nil {
		err = s.SetDeadline(time.Now().Add(time.Minute))
	}
	if err == nil {
		_, err = s.Write([]byte{1}) // yamux tells the other side with the first byte
	}
	if err != nil {
		t.Log(err)
		return false
	}
	for err == nil {
		_, err = s.Read(make([]byte, 64))
	}
	var late net.Error
	if errors.As(err, &late) && late.Timeout() {
		t.Error("the stream is still open")
	}
	return true
}

// Bulk offers the processor once for each share while others talk, and not while it is
// alone, its own grants aside.
func TestYielding(t *testing.T) {
	var talk uint64
	offers := 0
	m := manners{talk: func() uint64 { return talk }, offer: func() { offers++ }}
	pass := func(stretches int, talked uint64, want int) {
		t.Helper()
		offers = 0
		for range stretches {
			talk += talked
			for range stretch >> 10 {
				m.passed(1 << 10)
			}
		}
		if offers != want {
			t.Errorf("%d stretches with %d frames beside each: %d offers, want %d", stretches, talked, offers, want)
		}
	}
	const each = stretch / yieldShare
	pass(10, 1, 0)
	pass(10, small, 0)
	pass(10, small+1, 9*each+1) // it finds out at the end of the first
	pass(1, 0, each-1)          // and again
	pass(10, 0, 0)
}

// clumsy is a listener that fails with an error of its own.
type clumsy struct {
	transport.Listener
	err error
}

func (l clumsy) Accept() (transport.CapableConn, error) { return nil, l.err }
func (l clumsy) Close() error                           { return nil }

// A listener says that it was closed, whatever the one below says, and only then.
func TestListenerSaysItIsClosed(t *testing.T) {
	other := errors.New("listener closed")
	l := &quietListener{Listener: clumsy{err: other}}
	if _, err := l.Accept(); err != other {
		t.Errorf("before it is closed: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Accept(); err != transport.ErrListenerClosed {
		t.Errorf("after it is closed: %v", err)
	}
}

// socket is a connection from a port.
type socket struct {
	port   int
	closed chan int // gets the port
}

func (s socket) LocalMultiaddr() multiaddr.Multiaddr {
	return multiaddr.StringCast("/ip4/127.0.0.1/tcp/1")
}

func (s socket) RemoteMultiaddr() multiaddr.Multiaddr {
	return multiaddr.StringCast(fmt.Sprintf("/ip4/127.0.0.1/tcp/%d", s.port))
}

func (s socket) Close() error {
	s.closed <- s.port
	return nil
}

// TestPending accepts more connections than may be pending: the oldest is closed that has proven
// nothing. The others are closed when their time is over.
func TestPending(t *testing.T) {
	closed := make(chan int, 10)
	var told []string
	p := &pending{most: 2, wait: time.Hour, tell: func(a string) { told = append(told, a) }}
	add := func(port int) { p.add(socket{port, closed}) }
	add(10)
	add(11)
	p.remove(socket{port: 10}.RemoteMultiaddr()) // it has proven its identity
	add(12)
	if len(closed) > 0 {
		t.Errorf("port %d was closed, and 2 are pending", <-closed)
	}
	add(13)
	add(14)
	if a, b := <-closed, <-closed; a != 11 || b != 12 || !slices.Equal(told, []string{"/ip4/127.0.0.1/tcp/11", "/ip4/127.0.0.1/tcp/12"}) {
		t.Errorf("ports %d and %d were closed, want 11 and 12; told of %v", a, b, told)
	}
	late := make(chan string)
	p = &pending{most: 2, wait: time.Nanosecond, tell: func(a string) { late <- a }}
	add(15)
	if port, from := <-closed, <-late; port != 15 || from != "/ip4/127.0.0.1/tcp/15" {
		t.Errorf("port %d was closed late, told of %s", port, from)
	}
}

// TestCandidateIsCrowded opens more sockets to a candidate than may be pending, and says nothing.
// The candidate closes some.
func TestCandidateIsCrowded(t *testing.T) {
	h, err := Candidate(t.Context(), []byte("a key that nobody else has"), 2, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	at, err := manet.ToNetAddr(h.Network().ListenAddresses()[0])
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 2*mostPending)
	for range cap(ended) {
		s, err := net.Dial("tcp", at.String())
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		go func() {
			_, err := io.Copy(io.Discard, s)
			ended <- err
		}()
	}
	<-ended
}
