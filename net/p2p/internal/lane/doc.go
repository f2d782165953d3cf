// Package lane is this node's end of a lane: frames in order, exactly once, over whatever
// stream there is at the moment.
//
// A [Lane] is an engine.Link, which keeps each frame until the peer has acknowledged it,
// and a [Stream], which has a goroutine that writes and one that reads. When a stream
// breaks, the next one goes on where it was. The lane asks for a stream by Peer.Call; the
// node dials, says hello, and gives the stream to [Lane.Attach].
//
// Between nodes of one machine the frames go by rings in shared memory, and the stream only says when it is
// over: see ring.go.
//
// A lane gets values of the node above it ([Node]), and calls it by three interfaces that
// stand here: [Peer], [Parcels] and [Operations]. The package knows no membership, no
// heartbeat and no window.
//
// # Locks
//
//	Lane.seat       a stream takes the place of another, until the old one has ended
//	Stream.reading  somebody takes frames from the stream's ring, and calls receivers
//	Lane.mu         the link and the stream; held for a moment, never while bytes move
//
// in this order. Lane.handing is held while the data lane hands a parcel to its receiver.
package lane
