package p2ptest

import (
	"context"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/transport"
	"github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	orwl "github.com/orwl/go-orwl/net/p2p/internal/transport"
	"github.com/orwl/go-orwl/net/p2p/noise"
)

// Carrier has the process's sockets take the place of the kernel's. It encrypts by noise, whose handshakes take half as long as those of TLS.
func (h *Process) Carrier() orwl.Carrier {
	c := noise.Carrier
	c.Streams = func(up transport.Upgrader, manager network.ResourceManager) transport.Transport {
		return streams{h, up, manager}
	}
	return c
}

// streams is a transport of libp2p.
type streams struct {
	process *Process
	up      transport.Upgrader
	manager network.ResourceManager
}

// Dial implements transport.Transport.
func (s streams) Dial(ctx context.Context, to multiaddr.Multiaddr, id peer.ID) (transport.CapableConn, error) {
	scope, err := s.manager.OpenConnection(network.DirOutbound, true, to)
	if err != nil {
		return nil, err
	}
	c, err := s.dial(ctx, to, id, scope)
	if err != nil {
		scope.Done()
		return nil, err
	}
	return c, nil
}

func (s streams) dial(ctx context.Context, to multiaddr.Multiaddr, id peer.ID, scope network.ConnManagementScope) (transport.CapableConn, error) {
	_, address, err := manet.DialArgs(to)
	if err != nil {
		return nil, err
	}
	if err := scope.SetPeer(id); err != nil {
		return nil, err
	}
	raw, err := s.process.dial(ctx, address)
	if err != nil {
		return nil, err
	}
	c, err := manet.WrapNetConn(raw)
	if err != nil {
		return nil, err
	}
	return s.up.Upgrade(ctx, s, c, network.DirOutbound, id, scope)
}

// CanDial implements transport.Transport.
func (s streams) CanDial(multiaddr.Multiaddr) bool { return true }

// Listen implements transport.Transport.
func (s streams) Listen(at multiaddr.Multiaddr) (transport.Listener, error) {
	_, address, err := manet.DialArgs(at)
	if err != nil {
		return nil, err
	}
	raw, err := s.process.listen(address)
	if err != nil {
		return nil, err
	}
	l, err := manet.WrapNetListener(raw)
	if err != nil {
		return nil, err
	}
	return ending{s.up.UpgradeGatedMaListener(s, s.up.GateMaListener(l))}, nil
}

// ending is a listener that ends in one way only, which the swarm knows.
type ending struct{ transport.Listener }

// Accept implements transport.Listener.
func (l ending) Accept() (transport.CapableConn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, transport.ErrListenerClosed
	}
	return c, nil
}

// Protocols implements transport.Transport.
func (s streams) Protocols() []int { return []int{multiaddr.P_TCP} }

// Proxy implements transport.Transport.
func (s streams) Proxy() bool { return false }
