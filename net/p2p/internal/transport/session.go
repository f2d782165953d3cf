package transport

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/control"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
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

// candidateHello is how long a connection of a candidate may take to be secured.
const candidateHello = 5 * time.Second

// Candidate makes the host of a process that has no number yet. It has a random identity,
// and is in the private network of the run's key, so only processes with the key can talk to
// it. It listens.
func Candidate(ctx context.Context, key []byte, nodes int, listen string) (host.Host, error) {
	private, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("p2p: identity of a candidate: %w", err)
	}
	o := Options{Nodes: nodes, Key: key, Private: true, Hello: candidateHello, Talk: func() uint64 { return 0 }, Stranger: func(string) {}}
	a, err := assemble(o, private, keyed{newPending(o)})
	if err != nil {
		return nil, err
	}
	at, err := resolve(ctx, listen, false)
	if err == nil {
		err = a.Network().Listen(at[0])
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("p2p: a candidate cannot listen at %s: %w", listen, err), a.Close())
	}
	return a, nil
}

// keyed lets in every process that has come into the private network.
type keyed struct{ pending *pending }

var _ connmgr.ConnectionGater = keyed{}

// InterceptPeerDial implements connmgr.ConnectionGater.
func (g keyed) InterceptPeerDial(corepeer.ID) bool { return true }

// InterceptAddrDial implements connmgr.ConnectionGater.
func (g keyed) InterceptAddrDial(corepeer.ID, multiaddr.Multiaddr) bool { return true }

// InterceptAccept implements connmgr.ConnectionGater.
func (g keyed) InterceptAccept(c network.ConnMultiaddrs) bool {
	g.pending.add(c)
	return true
}

// InterceptSecured implements connmgr.ConnectionGater.
func (g keyed) InterceptSecured(_ network.Direction, _ corepeer.ID, c network.ConnMultiaddrs) bool {
	g.pending.remove(c.RemoteMultiaddr())
	return true
}

// InterceptUpgraded implements connmgr.ConnectionGater.
func (g keyed) InterceptUpgraded(network.Conn) (bool, control.DisconnectReason) { return true, 0 }
