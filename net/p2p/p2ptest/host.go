package p2ptest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/discovery"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/sec"
	blankhost "github.com/libp2p/go-libp2p/p2p/host/blank"
	"github.com/libp2p/go-libp2p/p2p/host/eventbus"
	"github.com/libp2p/go-libp2p/p2p/host/peerstore/pstoremem"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	"github.com/libp2p/go-libp2p/p2p/net/upgrader"
	"github.com/libp2p/go-libp2p/p2p/protocol/identify"
	libp2ptls "github.com/libp2p/go-libp2p/p2p/security/tls"
	libp2pquic "github.com/libp2p/go-libp2p/p2p/transport/quic"
	"github.com/libp2p/go-libp2p/p2p/transport/quicreuse"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	"github.com/multiformats/go-multiaddr"
	quicgo "github.com/quic-go/quic-go"

	"github.com/orwl/go-orwl/net/p2p/internal/transport"
)

// Where a host may listen: at a port of this machine.
const (
	TCP  = "/ip4/127.0.0.1/tcp/0"
	QUIC = "/ip4/127.0.0.1/udp/0/quic-v1"
)

// HostOptions describe a host.
type HostOptions struct {
	Identity crypto.PrivKey          // a new one if nil
	Gater    connmgr.ConnectionGater // nil lets everybody in
	Listen   string                  // where it listens; nowhere if empty
}

// Host makes a host with the identity and the gater of a node.
func Host(key []byte, number, nodes int, listen string) (host.Host, error) {
	return NewHost(HostOptions{Identity: transport.Identity(key, number), Gater: transport.NewGater(key, number, nodes), Listen: listen})
}

// NewHost makes a host of libp2p's usual parts, which knows nothing of nodes: TCP, TLS and the usual yamux, and QUIC.
func NewHost(o HostOptions) (host.Host, error) {
	if o.Identity == nil {
		var err error
		if o.Identity, _, err = crypto.GenerateEd25519Key(rand.Reader); err != nil {
			return nil, err
		}
	}
	h := new(usual)
	if err := h.assemble(o); err != nil {
		return nil, errors.Join(fmt.Errorf("p2ptest: a host: %w", err), h.Close())
	}
	return h, nil
}

// usual is such a host, with what it closes at its end.
type usual struct {
	*blankhost.BlankHost
	sockets  *quicreuse.ConnManager
	identify identify.IDService
}

func (h *usual) assemble(o HostOptions) error {
	id, err := peer.IDFromPrivateKey(o.Identity)
	if err != nil {
		return err
	}
	peers, err := pstoremem.NewPeerstore()
	if err != nil {
		return err
	}
	if err := errors.Join(peers.AddPrivKey(id, o.Identity), peers.AddPubKey(id, o.Identity.GetPublic())); err != nil {
		return errors.Join(err, peers.Close())
	}
	bus := eventbus.NewBus()
	manager := &network.NullResourceManager{}
	s, err := swarm.NewSwarm(id, peers, bus, swarm.WithConnectionGater(o.Gater), swarm.WithResourceManager(manager))
	if err != nil {
		return errors.Join(err, peers.Close())
	}
	h.BlankHost = blankhost.NewBlankHost(s, blankhost.WithEventBus(bus))
	if h.identify, err = identify.NewIDService(h); err != nil {
		return err
	}
	h.identify.Start()
	muxers := []upgrader.StreamMuxer{{ID: yamux.ID, Muxer: yamux.DefaultTransport}}
	security, err := libp2ptls.New(libp2ptls.ID, o.Identity, muxers)
	if err != nil {
		return err
	}
	up, err := upgrader.New([]sec.SecureTransport{security}, muxers, nil, manager, o.Gater)
	if err != nil {
		return err
	}
	overTCP, err := tcp.NewTCPTransport(up, manager, nil)
	if err != nil {
		return err
	}
	if h.sockets, err = quicreuse.NewConnManager(quicgo.StatelessResetKey{}, quicgo.TokenGeneratorKey{}); err != nil {
		return err
	}
	overQUIC, err := libp2pquic.NewTransport(o.Identity, h.sockets, nil, o.Gater, manager)
	if err != nil {
		return err
	}
	if err := errors.Join(s.AddTransport(overTCP), s.AddTransport(overQUIC)); err != nil || o.Listen == "" {
		return err
	}
	at, err := multiaddr.NewMultiaddr(o.Listen)
	if err != nil {
		return err
	}
	return s.Listen(at)
}

// Close ends the host.
func (h *usual) Close() error {
	var errs []error
	if h.identify != nil {
		errs = append(errs, h.identify.Close())
	}
	if h.BlankHost != nil {
		errs = append(errs, h.BlankHost.Close(), h.Peerstore().Close())
	}
	if h.sockets != nil {
		errs = append(errs, h.sockets.Close())
	}
	return errors.Join(errs...)
}

// Board is a discovery in memory: each host pins its addresses under a name. The zero value is
// empty.
type Board struct {
	mu   sync.Mutex
	pins map[string][]peer.AddrInfo
}

// For is the board as a host sees it. A host that only looks may be nil.
func (b *Board) For(h host.Host) discovery.Discovery { return pinned{b, h} }

type pinned struct {
	*Board
	host host.Host
}

// Advertise implements discovery.Discovery.
func (b pinned) Advertise(_ context.Context, ns string, _ ...discovery.Option) (time.Duration, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.pins == nil {
		b.pins = make(map[string][]peer.AddrInfo)
	}
	b.pins[ns] = append(b.pins[ns], peer.AddrInfo{ID: b.host.ID(), Addrs: b.host.Addrs()})
	return time.Hour, nil
}

// FindPeers implements discovery.Discovery.
func (b pinned) FindPeers(_ context.Context, ns string, _ ...discovery.Option) (<-chan peer.AddrInfo, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	found := make(chan peer.AddrInfo, len(b.pins[ns]))
	for _, info := range b.pins[ns] {
		found <- info
	}
	close(found)
	return found, nil
}
