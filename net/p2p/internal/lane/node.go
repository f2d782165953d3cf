package lane

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/net/p2p/internal/loan"
	"github.com/orwl/go-orwl/net/p2p/internal/transport"
	"github.com/orwl/go-orwl/net/wire"
)

// Node is what all lanes of a node share. Its fields are set before the first stream.
type Node struct {
	Number  int
	MaxBulk int // the largest bulk that is received
	Backlog int // bytes that a lane keeps for a peer that does not take them
	Memory  *loan.Memory
	Hoard   *loan.Hoard
	Counts  *Counts
	Log     *slog.Logger
	Go      func(f func()) // runs f on a goroutine that the node waits for
	Parcels Parcels

	rings

	operations atomic.Pointer[Operations]
	bulky      atomic.Uint64 // frames that came by data lanes
}

// Talk is how many frames have come by control lanes.
func (n *Node) Talk() uint64 { return n.Counts.FramesIn.Load() - n.bulky.Load() }

// Operate says who executes the window operations of other nodes. Operations that come
// before are refused: all nodes call it, and gather, before any node uses a window.
func (n *Node) Operate(o Operations) { n.operations.Store(&o) }

// Peer is the node at the other end of a lane. A lane calls it with no lock held, except
// for Call.
type Peer interface {
	// Context is done when the peer is gone.
	Context() context.Context
	// Call dials, after a pause, until the lane has a stream: see Lane.Dials. It does
	// not wait, and the lane's lock is held.
	Call(kind transport.Kind, pause time.Duration)
	// Beaten takes a heartbeat.
	Beaten(f wire.Beat) error
	// Refused takes that the peer does not want this node.
	Refused(reason string)
	// Left takes that the peer leaves.
	Left()
	// Lose gives the peer up, for good.
	Lose(why error)
	// Misbehaved notes something that no correct node does.
	Misbehaved(err error)
	// Mapping is the arena of the peer, or nil. Lends says that the peer has mapped the arena of this node.
	Mapping() *loan.Mapping
	Lends() bool
}

// Parcels are the receivers of a node.
type Parcels interface {
	// Receiver takes the parcels of a channel.
	Receiver(channel uint64) (Receiver, bool)
	// Hold keeps a parcel whose receiver is not known yet.
	Hold(from int, channel uint64, header, bulk []byte) error
}

// Receiver takes the parcels of a channel.
type Receiver = node.Receiver

// Counts are what has happened to the streams of a node.
type Counts = node.Counts

// Operations executes the other nodes' window operations, and takes the answers to this
// node's own. It is called by lanes' readers.
type Operations interface {
	// Operation takes a frame of another node; its number is the call's.
	// bulk is good until it returns.
	Operation(l *Lane, h wire.Head, op *wire.Operation, bulk []byte) error
	// Room is where the n bytes of a reply are read to; nil: nowhere.
	Room(r *wire.Reply, n int) []byte
	// Reply takes the answer to a call that is waited for.
	Reply(r *wire.Reply, bulk []byte)
}
