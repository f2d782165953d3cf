package transport

import (
	"fmt"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

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
