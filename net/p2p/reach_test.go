package p2p

import (
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
)

// relay is a network that can stand still: it carries connections to a node, until it is told
// to carry nothing more of those that there are.
type relay struct {
	net.Listener
	group sync.WaitGroup

	mu     sync.Mutex
	to     string
	deaf   bool // it carries no new connections either
	conns  []net.Conn
	stands []chan struct{} // closed when the connection stands still
}

func newRelay(t *testing.T, to string) *relay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{Listener: l, to: to}
	r.group.Go(r.accept)
	t.Cleanup(func() {
		l.Close()
		r.mu.Lock()
		for _, c := range r.conns {
			c.Close()
		}
		r.mu.Unlock()
		r.group.Wait()
	})
	return r
}

func (r *relay) accept() {
	for {
		here, err := r.Accept()
		if err != nil {
			return
		}
		r.mu.Lock()
		r.conns = append(r.conns, here)
		deaf, to := r.deaf, r.to
		r.mu.Unlock()
		if deaf {
			continue
		}
		there, err := net.Dial("tcp", to)
		if err != nil { // no node listens there any more, nor here
			here.Close()
			r.Close()
			return
		}
		stands := make(chan struct{})
		r.mu.Lock()
		r.conns = append(r.conns, there)
		r.stands = append(r.stands, stands)
		r.mu.Unlock()
		r.group.Go(func() { carry(here, there, stands) })
		r.group.Go(func() { carry(there, here, stands) })
	}
}

// carry copies until the connection stands still, or is closed at one end.
func carry(to, from net.Conn, stands <-chan struct{}) {
	b := make([]byte, 1<<16)
	for {
		n, err := from.Read(b)
		select {
		case <-stands:
			io.Copy(io.Discard, from)
			return
		default:
		}
		if err != nil {
			to.Close()
			return
		}
		to.Write(b[:n])
	}
}

// stand makes all connections that there are stand still, and those to come if it is deaf.
func (r *relay) stand(deaf bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.deaf = deaf
	for _, s := range r.stands {
		close(s)
	}
	r.stands = nil
}

// mend has it carry new connections again.
func (r *relay) mend() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.deaf = false
}

// TestReach lets the streams of two nodes stand still for ever. One of them opens another
// one before the lease ends, and every parcel comes once.
func TestReach(t *testing.T) {
	for name, c := range map[string]struct{ deaf0, deaf1 bool }{
		"node 0 dials": {deaf0: true},
		"node 1 dials": {deaf1: true},
		"both dial":    {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, root, failed := start(t, 2, func(o *Options) { o.Remote = true; inTouch(o) })
			to0 := newRelay(t, address)
			to1 := newRelay(t, "")
			o := Options{
				Number: 1, Nodes: 2, Key: testKey, Remote: true, Peers: []string{to0.Addr().String(), to1.Addr().String()},
				Listening: func(address string) {
					to1.mu.Lock()
					defer to1.mu.Unlock()
					to1.to = address
				},
			}
			inTouch(&o)
			one, err := Join(soon(t), o)
			if err != nil {
				t.Fatal(err)
			}
			var zero *Node
			select {
			case zero = <-root:
			case err := <-failed:
				t.Fatal(err)
			}
			nodes := []*Node{zero, one}
			t.Cleanup(func() { closeAll(t, nodes...) })
			speak := talk(t, nodes)
			speak("before")
			to0.stand(c.deaf0)
			to1.stand(c.deaf1)
			speak("meanwhile")
			speak("after")
			to0.mend() // so that a node that has closed is not waited for
			to1.mend()
		})
	}
}

// talk has both nodes send the other one a text, and waits until both have come.
func talk(t *testing.T, nodes []*Node) func(text string) {
	came := make(chan string, 10)
	for i, n := range nodes {
		receive(t, n, func(_ int, header, _ []byte) error { came <- fmt.Sprint(i, " hears ", string(header)); return nil })
		n.OnLoss(func(_ int, why error) { came <- fmt.Sprint(i, " loses the other: ", why) })
	}
	return func(text string) {
		t.Helper()
		for i, n := range nodes {
			if err := n.Send(1-i, 1, []byte(text), nil, false); err != nil {
				t.Fatal(err)
			}
		}
		got := []string{await(t, came, text), await(t, came, text)}
		slices.Sort(got)
		if want := []string{"0 hears " + text, "1 hears " + text}; !slices.Equal(got, want) {
			t.Fatalf("%q, want %q", got, want)
		}
	}
}
