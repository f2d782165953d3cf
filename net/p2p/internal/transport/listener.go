package transport

import (
	"sync/atomic"

	"github.com/libp2p/go-libp2p/core/transport"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	"github.com/multiformats/go-multiaddr"
)

// quietTCP is TCP whose listeners say that they were closed. libp2p's listeners end with another
// error if they are closed just when they have accepted a connection. Its swarm does not know that
// error, and writes a line to standard error.
type quietTCP struct{ *tcp.TcpTransport }

// Listen implements transport.Transport.
func (t quietTCP) Listen(at multiaddr.Multiaddr) (transport.Listener, error) {
	l, err := t.TcpTransport.Listen(at)
	if err != nil {
		return nil, err
	}
	return &quietListener{Listener: l}, nil
}

type quietListener struct {
	transport.Listener
	closed atomic.Bool
}

// Accept implements transport.Listener.
func (l *quietListener) Accept() (transport.CapableConn, error) {
	c, err := l.Listener.Accept()
	if err != nil && l.closed.Load() {
		err = transport.ErrListenerClosed
	}
	return c, err
}

// Close implements transport.Listener.
func (l *quietListener) Close() error {
	l.closed.Store(true)
	return l.Listener.Close()
}
