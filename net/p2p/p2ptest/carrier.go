package p2ptest

import (
	"context"
	"io"
	"net"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/core/sec"
	"github.com/libp2p/go-libp2p/core/transport"
	"github.com/libp2p/go-libp2p/p2p/net/upgrader"
	"github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	orwl "github.com/orwl/go-orwl/net/p2p/internal/transport"
)

// Sockets take the place of the kernel's, below a node.
type Sockets interface {
	// Dial and Listen do what net.Dial and net.Listen do.
	Dial(ctx context.Context, address string) (net.Conn, error)
	Listen(address string) (net.Listener, error)
}

// Carrier carries a node's bytes by other sockets. A peer names itself, and proves nothing: with handshakes a run of many
// nodes takes twice as long.
func Carrier(sockets Sockets) orwl.Carrier {
	return orwl.Carrier{
		Secure: func(private crypto.PrivKey, _ []upgrader.StreamMuxer) (sec.SecureTransport, error) {
			return open{private}, nil
		},
		Streams: func(up transport.Upgrader, manager network.ResourceManager) transport.Transport {
			return streams{sockets, up, manager}
		},
	}
}

// open is a transport that is not secure: each side sends its public key, and believes the other one.
type open struct{ private crypto.PrivKey }

// ID implements sec.SecureTransport.
func (open) ID() protocol.ID { return "/orwl/test/open" }

// SecureInbound implements sec.SecureTransport.
func (o open) SecureInbound(ctx context.Context, c net.Conn, id peer.ID) (sec.SecureConn, error) {
	return o.meet(ctx, c, id)
}

// SecureOutbound implements sec.SecureTransport.
func (o open) SecureOutbound(ctx context.Context, c net.Conn, id peer.ID) (sec.SecureConn, error) {
	return o.meet(ctx, c, id)
}

func (o open) meet(ctx context.Context, c net.Conn, want peer.ID) (sec.SecureConn, error) {
	defer context.AfterFunc(ctx, func() { _ = c.Close() })() // Read returns
	mine, err := crypto.MarshalPublicKey(o.private.GetPublic())
	if err != nil {
		return nil, err
	}
	if _, err := c.Write(append([]byte{byte(len(mine))}, mine...)); err != nil {
		return nil, err
	}
	theirs := make([]byte, 1+len(mine)) // all keys are of one kind
	if _, err := io.ReadFull(c, theirs); err != nil {
		return nil, err
	}
	key, err := crypto.UnmarshalPublicKey(theirs[1:])
	if err != nil {
		return nil, err
	}
	here, err := peer.IDFromPrivateKey(o.private)
	if err != nil {
		return nil, err
	}
	there, err := peer.IDFromPublicKey(key)
	if err == nil && want != "" && there != want {
		err = sec.ErrPeerIDMismatch{Expected: want, Actual: there}
	}
	return &openConn{c, here, there, key}, err
}

// openConn is a connection whose other end has named itself.
type openConn struct {
	net.Conn
	here, there peer.ID
	key         crypto.PubKey
}

// LocalPeer implements network.ConnSecurity.
func (c *openConn) LocalPeer() peer.ID { return c.here }

// RemotePeer implements network.ConnSecurity.
func (c *openConn) RemotePeer() peer.ID { return c.there }

// RemotePublicKey implements network.ConnSecurity.
func (c *openConn) RemotePublicKey() crypto.PubKey { return c.key }

// ConnState implements network.ConnSecurity.
func (c *openConn) ConnState() network.ConnectionState { return network.ConnectionState{} }

// streams is a transport of libp2p.
type streams struct {
	sockets Sockets
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
	raw, err := s.sockets.Dial(ctx, address)
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
	raw, err := s.sockets.Listen(address)
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
