package p2p

import (
	"bytes"
	"errors"
	"testing"

	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	corepeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/orwl/go-orwl/net/p2p/internal/lane"
	"github.com/orwl/go-orwl/net/p2p/internal/transport"
	"github.com/orwl/go-orwl/net/p2p/p2ptest"
)

// userHost is a host as a user makes it. It is closed after the nodes of the test.
func userHost(t testing.TB, number, nodes int, listen string) host.Host {
	t.Helper()
	return newHost(t, p2ptest.HostOptions{Identity: Identity(testKey, number), Gater: Gater(testKey, number, nodes), Listen: listen})
}

func newHost(t testing.TB, o p2ptest.HostOptions) host.Host {
	t.Helper()
	h, err := p2ptest.NewHost(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

// TestUserHosts joins by hosts that users have made, over TCP and over QUIC. Parcels of
// every size come in order. A host goes on when its node is closed.
func TestUserHosts(t *testing.T) {
	t.Parallel()
	for name, listen := range map[string]string{"TCP": p2ptest.TCP, "QUIC": p2ptest.QUIC} {
		t.Run(name, func(t *testing.T) {
			hosts := make([]host.Host, 3)
			for i := range hosts {
				hosts[i] = userHost(t, i, 3, listen)
			}
			nodes := run(t, 3, func(o *Options) { o.Host = hosts[o.Number] })
			got := make(chan []byte, 1)
			receive(t, nodes[2], func(_ int, _, bulk []byte) error { got <- bytes.Clone(bulk); return nil })
			for i, size := range []int{1, lane.DataFrom - 1, lane.DataFrom, 3 << 20, 1} {
				want := filling(uint64(i), size)
				if err := nodes[1].Send(2, 1, nil, want, true); err != nil {
					t.Fatal(err)
				}
				if b := await(t, got, "a parcel"); !bytes.Equal(b, want) {
					t.Errorf("%d bytes came, and are not the %d that were sent", len(b), size)
				}
			}
			snap(nodes[1], nodes[2], transport.Control)
			snap(nodes[1], nodes[2], transport.Data)
			for _, size := range []int{1, lane.DataFrom} {
				if err := nodes[1].Send(2, 1, nil, filling(9, size), true); err != nil {
					t.Fatal(err)
				}
				await(t, got, "a parcel, by another stream")
			}
			closeAll(t, nodes...)
			if _, err := hosts[0].Network().InterfaceListenAddresses(); err != nil || len(hosts[0].Addrs()) == 0 {
				t.Errorf("the user's host is closed with its node: %v", err)
			}
		})
	}
}

// TestUserHostAmongOthers has one node on a host that a user has made, and one on a host of our
// own. Each sends a block to the other, so each dials once for bulk.
func TestUserHostAmongOthers(t *testing.T) {
	for from := range 2 {
		nodes := run(t, 2, func(o *Options) {
			if o.Number == 0 {
				o.Host = userHost(t, 0, 2, p2ptest.TCP)
			}
		})
		got := make(chan int, 1)
		receive(t, nodes[1-from], func(_ int, _, bulk []byte) error { got <- len(bulk); return nil })
		if err := nodes[from].Send(1-from, 1, nil, make([]byte, lane.DataFrom), true); err != nil {
			t.Fatal(err)
		}
		if n := await(t, got, "a block"); n != lane.DataFrom {
			t.Errorf("from node %d: %d bytes came, want %d", from, n, lane.DataFrom)
		}
	}
}

// TestUserHostRefusesStrangers lets a stranger connect to a host of a user: to one with
// the gater, and to one that lets everybody in.
func TestUserHostRefusesStrangers(t *testing.T) {
	for name, c := range map[string]struct {
		gater    connmgr.ConnectionGater
		connects bool
	}{
		"gater":    {Gater(testKey, 0, 2), false},
		"no gater": {nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			counts := new(Counts)
			h := newHost(t, p2ptest.HostOptions{Identity: Identity(testKey, 0), Gater: c.gater, Listen: p2ptest.TCP})
			run(t, 2, func(o *Options) {
				if o.Number == 0 {
					o.Host, o.Counts = h, counts
				}
			})
			stranger := newHost(t, p2ptest.HostOptions{})
			err := stranger.Connect(soon(t), corepeer.AddrInfo{ID: h.ID(), Addrs: h.Addrs()})
			var s network.Stream
			if err == nil {
				s, err = stranger.NewStream(soon(t), h.ID(), "/orwl/control/1")
			}
			if err == nil {
				_, err = s.Read(make([]byte, 1))
			}
			if err == nil {
				t.Error("a stranger is answered")
			}
			if met := h.Network().Connectedness(stranger.ID()) == network.Connected; met != c.connects {
				t.Errorf("the stranger is connected: %t, want %t", met, c.connects)
			}
			if n := counts.Strangers.Load(); c.connects && n != 1 {
				t.Errorf("%d strangers are counted, want 1", n)
			}
		})
	}
}

// TestUserHostMisuse gives hosts that cannot be a node's.
func TestUserHostMisuse(t *testing.T) {
	other := userHost(t, 1, 2, p2ptest.TCP)
	if _, err := Join(soon(t), Options{Number: 0, Nodes: 2, Key: testKey, Host: other}); !errors.Is(err, ErrIdentity) {
		t.Errorf("a host of another node: %v, want ErrIdentity", err)
	}
	open := newHost(t, p2ptest.HostOptions{Identity: Identity(nil, 0), Listen: "/ip4/0.0.0.0/tcp/0"})
	if _, err := Join(soon(t), Options{Number: 0, Nodes: 2, Host: open}); !errors.Is(err, ErrNoKey) {
		t.Errorf("a host that all can reach, and no key: %v, want ErrNoKey", err)
	}
}
