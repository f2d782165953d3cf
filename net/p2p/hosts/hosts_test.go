package hosts

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/orwl/go-orwl/net/p2p"
)

var key = []byte("a key that nobody else has")

func newHost(t *testing.T, options ...libp2p.Option) host.Host {
	t.Helper()
	h, err := libp2p.New(options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

// nodeHost is a host for a node of two.
func nodeHost(t *testing.T, number int, listen string) host.Host {
	return newHost(t, libp2p.Identity(p2p.Identity(key, number)), libp2p.ConnectionGater(p2p.Gater(key, number, 2)), libp2p.ListenAddrStrings(listen))
}

// join joins two nodes. A node without a host makes its own.
func join(t *testing.T, hosts [2]host.Host, counts *p2p.Counts) [2]*p2p.Node {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	var nodes [2]*p2p.Node
	var errs [2]error
	var all sync.WaitGroup
	begin := func(i int, o p2p.Options) {
		o.Number, o.Nodes, o.Key, o.Host, o.Remote, o.Lease, o.Counts = i, 2, key, hosts[i], true, 30*time.Second, counts
		all.Go(func() { nodes[i], errs[i] = p2p.Join(ctx, o) })
	}
	root := make(chan string, 1)
	begin(0, p2p.Options{Listening: func(a string) { root <- a }})
	begin(1, p2p.Options{Root: <-root})
	all.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		for _, n := range nodes {
			all.Go(func() {
				if err := n.Close(ctx); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	})
	return nodes
}

// TestHosts joins two nodes on such hosts, and one on such a host with one on a host of our own. Parcels of every size come, both ways.
func TestHosts(t *testing.T) {
	for name, c := range map[string]struct {
		listen string
		on     [2]bool // which nodes are on such a host
	}{
		"TCP":         {"/ip4/127.0.0.1/tcp/0", [2]bool{true, true}},
		"QUIC":        {"/ip4/127.0.0.1/udp/0/quic-v1", [2]bool{true, true}},
		"only node 0": {"/ip4/127.0.0.1/tcp/0", [2]bool{true, false}},
		"only node 1": {"/ip4/127.0.0.1/tcp/0", [2]bool{false, true}},
	} {
		t.Run(name, func(t *testing.T) {
			var hosts [2]host.Host
			for i := range hosts {
				if c.on[i] {
					hosts[i] = nodeHost(t, i, c.listen)
				}
			}
			nodes := join(t, hosts, nil)
			for to, n := range nodes {
				got := make(chan []byte, 1)
				if err := n.Receive(1, p2p.Receiver{Take: func(_ int, _, bulk []byte) error { got <- bytes.Clone(bulk); return nil }}); err != nil {
					t.Fatal(err)
				}
				for _, size := range []int{1, 100 << 10, 3 << 20} {
					want := make([]byte, size)
					rand.Read(want)
					if err := nodes[1-to].Send(to, 1, nil, want, true); err != nil {
						t.Fatal(err)
					}
					if b := <-got; !bytes.Equal(b, want) {
						t.Errorf("%d other bytes came to node %d, want %d", len(b), to, size)
					}
				}
			}
		})
	}
}

// TestStranger connects a host without the key to such a host of a node. The gater keeps it out. Without one it gets no stream.
func TestStranger(t *testing.T) {
	for name, gated := range map[string]bool{"gater": true, "no gater": false} {
		t.Run(name, func(t *testing.T) {
			options := []libp2p.Option{libp2p.Identity(p2p.Identity(key, 0)), libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0")}
			if gated {
				options = append(options, libp2p.ConnectionGater(p2p.Gater(key, 0, 2)))
			}
			h, counts := newHost(t, options...), new(p2p.Counts)
			join(t, [2]host.Host{h, nil}, counts)
			stranger := newHost(t, libp2p.NoListenAddrs)
			err := stranger.Connect(t.Context(), peer.AddrInfo{ID: h.ID(), Addrs: h.Addrs()})
			var s network.Stream
			if err == nil {
				s, err = stranger.NewStream(t.Context(), h.ID(), "/orwl/control/1")
			}
			if err == nil {
				_, err = s.Read(make([]byte, 1))
			}
			if err == nil {
				t.Error("a stranger is answered")
			}
			if met := h.Network().Connectedness(stranger.ID()) == network.Connected; met == gated {
				t.Errorf("the stranger is connected: %t", met)
			}
			if n := counts.Strangers.Load(); !gated && n != 1 {
				t.Errorf("%d strangers are counted, want 1", n)
			}
		})
	}
}
