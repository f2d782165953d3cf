package p2p

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/orwl/go-orwl/net/p2p/quic"
)

// alone is a node that is its whole run.
func alone(t *testing.T, change func(o *Options)) *Node {
	t.Helper()
	o := Options{Nodes: 1, Key: testKey, Counts: new(Counts)}
	if change != nil {
		change(&o)
	}
	n, err := Join(soon(t), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeAll(t, n) })
	return n
}

// repeat is a session that returns what comes.
func repeat(s Stream) {
	defer s.Close()
	_, _ = io.Copy(s, s) // it ends with the stream
}

// says checks that a session gets an answer.
func says(t *testing.T, s Stream) {
	t.Helper()
	defer s.Close()
	s.SetDeadline(time.Now().Add(patience))
	word := make([]byte, 5)
	if _, err := s.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(s, word); err != nil || string(word) != "hello" {
		t.Errorf("got %q, %v", word, err)
	}
}

// TestSession connects to a node alone, and to each node of a run, without its number. More
// sessions come than a node may have connections.
func TestSession(t *testing.T) {
	t.Parallel()
	nodes := append(run(t, 3, nil), alone(t, nil))
	for _, n := range nodes {
		n.Admit(repeat)
		s, err := DialSession(soon(t), SessionOptions{Address: n.Address(), Key: testKey})
		if err != nil {
			t.Fatal(err)
		}
		says(t, s)
	}
	var all []Stream
	for range 40 {
		s, err := DialSession(soon(t), SessionOptions{Address: nodes[3].Address(), Key: testKey})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	for _, s := range all {
		says(t, s)
	}
}

// TestSessionCarriers connects by the other carriers, to a node whose number it does not know.
func TestSessionCarriers(t *testing.T) {
	for name, c := range map[string]Carrier{"TLS": {}, "QUIC": quic.Carrier} {
		t.Run(name, func(t *testing.T) {
			nodes := run(t, 2, func(o *Options) { o.Carrier = c })
			nodes[1].Admit(repeat)
			s, err := DialSession(soon(t), SessionOptions{Address: nodes[1].Address(), Key: testKey, Carrier: c})
			if err != nil {
				t.Fatal(err)
			}
			says(t, s)
			s.Close() // again
		})
	}
}

// TestSessionStranger has another key, or finds a node that takes no sessions. No stream reaches
// the node.
func TestSessionStranger(t *testing.T) {
	t.Parallel()
	n := alone(t, nil)
	if _, err := DialSession(soon(t), SessionOptions{Address: n.Address(), Key: testKey}); err == nil {
		t.Error("a node that takes no sessions has taken one")
	}
	if got := n.counts.Strangers.Load(); got != 1 {
		t.Errorf("%d strangers are counted, want 1", got)
	}
	n.Admit(func(s Stream) {
		t.Error("a stranger has a stream")
		s.Close()
	})
	_, err := DialSession(soon(t), SessionOptions{Address: n.Address(), Key: []byte("the key of another run")})
	if !errors.Is(err, ErrStranger) {
		t.Errorf("another key: %v, want ErrStranger", err)
	}
	if _, err := DialSession(soon(t), SessionOptions{Address: n.Address(), Key: []byte("short")}); err == nil {
		t.Error("a short key is taken")
	}
	if _, err := DialSession(soon(t), SessionOptions{Address: "nowhere", Key: testKey}); err == nil {
		t.Error("an address without a port is taken")
	}
}
