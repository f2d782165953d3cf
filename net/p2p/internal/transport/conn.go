package transport

import (
	"io"
	"time"

	corepeer "github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/multiformats/go-multiaddr"
)

// Conn is a stream to another node, and the connection that it is on. A connection
// carries one stream of ours.
type Conn struct {
	Stream
	peer   corepeer.ID
	name   protocol.ID
	remote multiaddr.Multiaddr
	end    func()
}

// Stream is what a lane needs of a stream.
type Stream interface {
	io.Reader
	io.Writer
	SetDeadline(t time.Time) error
	// CloseWrite ends the direction to the other side, which reads everything before it.
	CloseWrite() error
}

// Kind is what the stream is for: the node that has dialled says so.
func (c *Conn) Kind() Kind {
	if c.name == protocols[Data] {
		return Data
	}
	return Control
}

// Knocks reports whether the other side is a node that wants to come back.
func (c *Conn) Knocks() bool { return c.name == knockProtocol }

// Remote is the address at the other end.
func (c *Conn) Remote() multiaddr.Multiaddr { return c.remote }

// Close ends the stream, and the connection if it is ours.
func (c *Conn) Close() { c.end() }
