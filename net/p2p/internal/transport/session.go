package transport

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/libp2p/go-libp2p/core/network"
	corepeer "github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/core/sec"
	"github.com/libp2p/go-libp2p/core/transport"
	"github.com/multiformats/go-multiaddr"
)

const (
	// sessionProtocol is the name of a session's stream.
	sessionProtocol protocol.ID = "/orwl/session/1"
	// sessionPurpose is what the identity of sessions is derived for. All sessions have the
	// same: it proves that they have the key, and they need no number.
	sessionPurpose = "orwl session"
	// mostSessions is how many sessions may be connected to a node.
	mostSessions = 1 << 12
	// mostTried is among how many nodes a session looks for the one that it has reached.
	mostTried = 1 << 12
)

// sessionID is the name of every process that has the key and is no node.
func sessionID(key []byte) corepeer.ID { return nameOf(key, sessionPurpose) }

// Admit lets sessions in, and has take take their streams, each in a goroutine of its own. Until
// then they are strangers.
func (h *Host) Admit(take func(*Conn)) {
	h.gater.sessions.Store(true)
	h.SetStreamHandler(sessionProtocol, func(s network.Stream) {
		if s.Conn().RemotePeer() != h.gater.session {
			h.gater.stranger(s.Conn().RemoteMultiaddr().String())
			_ = s.Reset() // it is over anyway
			return
		}
		take(h.conn(s))
	})
}

// DialSession opens the stream of a session to whichever node is at an address. The session's
// process needs no host: it listens nowhere, and has one connection.
func DialSession(ctx context.Context, o Options, address string) (*Conn, error) {
	at, err := resolve(ctx, address, o.Carrier.QUIC != nil)
	if err != nil {
		return nil, err
	}
	g := newGater(nil, 0, func(string) {})
	own := &assembled{manager: new(network.NullResourceManager)}
	if _, err := own.carry(o, g, identity(o.Key, sessionPurpose)); err != nil {
		return nil, errors.Join(err, own.Close())
	}
	var failures []error
	for _, a := range at {
		conn, err := dialAny(ctx, own.dialling[Control], g, o.Key, a)
		if err == nil {
			return openSession(ctx, own, conn)
		}
		failures = append(failures, err)
	}
	return nil, errors.Join(append(failures, own.Close())...)
}

// dialAny dials the node at an address. A node has a name for each number. The session tries node
// 0's, and learns by the answer which node is there.
func dialAny(ctx context.Context, t transport.Transport, g *gater, key []byte, a multiaddr.Multiaddr) (transport.CapableConn, error) {
	id := nameOf(key, nodePurpose(0))
	g.numbers[id] = 0
	conn, err := t.Dial(ctx, a, id)
	var other sec.ErrPeerIDMismatch
	if !errors.As(err, &other) {
		return conn, err
	}
	for number := 1; number < mostTried; number++ {
		if nameOf(key, nodePurpose(number)) == other.Actual {
			g.numbers[other.Actual] = number
			return t.Dial(ctx, a, other.Actual)
		}
	}
	return nil, err
}

// openSession opens the stream on a connection. Both end together, and all that they stand on.
func openSession(ctx context.Context, own *assembled, conn transport.CapableConn) (*Conn, error) {
	s, err := conn.OpenStream(ctx)
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrNoHello, err)
	} else {
		err = named(ctx, s, sessionProtocol)
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close(), own.Close()) // they are of no use
	}
	go refuseAll(conn)
	end := sync.OnceFunc(func() {
		_ = conn.Close() // it is over anyway
		_ = own.Close()  // the host is over, too
	})
	return &Conn{Stream: s, name: sessionProtocol, remote: conn.RemoteMultiaddr(), end: end}, nil
}
