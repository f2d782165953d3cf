package p2p

import (
	"context"
	"errors"
	"fmt"

	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/net/p2p/internal/transport"
)

// Stream is the connection of a session to a node: a process that has the key of the run, and is
// none of its nodes. Bytes arrive in order, as long as it lives.
type Stream = node.Stream

// Admit lets sessions connect to this node, and calls take with the stream of each, in a
// goroutine of its own. take's streams end when the node is closed. Without Admit, sessions are
// strangers.
func (n *Node) Admit(take func(Stream)) {
	n.host.Admit(func(c *transport.Conn) { take(c) })
}

// SessionOptions say to which node a session connects.
type SessionOptions struct {
	// Address is where any node of the run listens. Required.
	Address string
	// Key is the key of the run, nil if it has none.
	Key []byte
	// Carrier is the run's.
	Carrier Carrier
}

// DialSession connects to a node of a run, from a process that is none of its nodes. An error
// that matches ErrStranger says that a process of another run, or with another key, is there.
func DialSession(ctx context.Context, o SessionOptions) (Stream, error) {
	if o.Key != nil && len(o.Key) < leastKey {
		return nil, fmt.Errorf("p2p: SessionOptions.Key has %d bytes, want at least %d", len(o.Key), leastKey)
	}
	if err := transport.CheckAddress(o.Address); err != nil {
		return nil, fmt.Errorf("p2p: SessionOptions.Address is %q, want host:port: %w", o.Address, err)
	}
	c, err := transport.DialSession(ctx, transport.Options{Key: o.Key, Carrier: o.Carrier, Hello: helloTimeout}, o.Address)
	switch {
	case err == nil:
		return c, nil
	case transport.OtherKey(err):
		return nil, fmt.Errorf("the process at %s has another key: %w", o.Address, ErrStranger)
	case errors.Is(err, transport.ErrNoHello):
		return nil, fmt.Errorf("the node at %s closes the connection without a word: it takes no sessions, or has another key: %w", o.Address, err)
	}
	return nil, fmt.Errorf("p2p: session with %s: %w", o.Address, err)
}
