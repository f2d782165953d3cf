package transport

import (
	"context"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/transport"
	"github.com/multiformats/go-multiaddr"
)

// Conn is a connection to another node. It carries one stream.
type Conn struct {
	raw    transport.CapableConn
	way    network.Direction
	tracer tracer
}

// Stream is the stream of a connection.
type Stream = network.MuxedStream

func (h *Host) conn(raw transport.CapableConn, way network.Direction) Conn {
	return Conn{raw, way, h.tracer}
}

// Kind is what the connection is for: the node that has dialled says so.
func (c *Conn) Kind() Kind {
	if c.raw.ConnState().StreamMultiplexer == muxers[Data] {
		return Data
	}
	return Control
}

// Probe reports whether it is a probe's.
func (c *Conn) Probe() bool {
	m := c.raw.ConnState().StreamMultiplexer
	return m == probes[Control] || m == probes[Data]
}

// Open opens the stream.
func (c *Conn) Open(ctx context.Context) (Stream, error) { return c.raw.OpenStream(ctx) }

// Accept takes the stream that the other node opens.
func (c *Conn) Accept() (Stream, error) { return c.raw.AcceptStream() }

// Remote is the address at the other end.
func (c *Conn) Remote() multiaddr.Multiaddr { return c.raw.RemoteMultiaddr() }

// Used tells libp2p's metrics that a lane uses the connection. Ended tells them that it
// does not any more, and closes the connection.
func (c *Conn) Used() { c.tracer.opened(c) }

// Ended ends what Used has begun.
func (c *Conn) Ended(lasted time.Duration) {
	c.tracer.closed(c, lasted)
	c.raw.Close()
}

// Close closes a connection that was not used.
func (c *Conn) Close() { c.raw.Close() }
