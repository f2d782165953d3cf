package lane

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/orwl/go-orwl/net/engine"
	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/net/p2p/internal/transport"
	"github.com/orwl/go-orwl/net/wire"
)

// Lane is this node's end of one of the two lanes to another. Whatever is appended
// to its link is written by the stream that the lane has, or by the next.
//
//	            connect               attach
//	no stream ──────────▶ calling ──────────────▶ stream
//	    ▲                    ▲                      │
//	    └─ nothing to write ─┴────── it broke ──────┘
//
// To append a frame:
//
//	l.mu.Lock()
//	room := l.link.Room(size)
//	... append the frame with number l.link.Next() to room
//	l.put(kind, room, bulk)
//	l.release() // or l.wake() and l.mu.Unlock()
type Lane struct {
	node *Node
	up   Peer
	peer int // its number
	kind transport.Kind

	// seat is held while a stream takes the place of another.
	seat sync.Mutex

	// The reader's own.
	behind bool // it has more to take already
	in     arrivals
	// The reader of the data lane holds handing while it hands over parcels. Others wait
	// for that: a node that says on the control lane that it leaves may have sent the
	// parcels before.
	handing sync.Mutex

	mu       sync.Mutex
	link     engine.Link
	out      departures
	calls    engine.Calls
	stream   *Stream       // nil if there is none
	last     *Stream       // the newest stream, even if it broke; all others have ended
	streams  uint64        // the number of streams until now
	calling  bool          // the peer was asked for one
	dialling bool          // and this node is dialling
	replaces bool          // a new connection is about to take the place of the stream
	attached chan struct{} // closed when a stream is attached; nil unless connect pauses
	bye      uint64        // the number of the goodbye, 0 before it
	over     error         // why there will be no stream any more
	lent     []debt        // the loans that are not settled, in their order
	owing    int           // the bytes of lent
	ring     *outbound     // where the peer reads in this node's memory, if there is such a place
	taking   bool          // we read a loan in the peer's memory, and do not acknowledge it yet
	work     sync.Cond     // the writer waits for something to write, or its end
	progress chan struct{} // closed when frames are acknowledged; nil if no goroutine waits
}

const (
	// DataFrom is from which size on bulk goes by the data lane.
	DataFrom = 8<<10 + 1
	// MostKept is how many bytes may be on their way before those who issue more
	// have to wait.
	MostKept = 4 << 20
)

// Init makes it a lane of a node to a peer.
func (l *Lane) Init(node *Node, peer int, up Peer, kind transport.Kind) {
	l.node, l.up, l.peer, l.kind = node, up, peer, kind
	l.work.L = &l.mu
}

// wake sees to it that what was appended is written. l.mu is held.
func (l *Lane) wake() {
	if l.stream != nil {
		l.work.Signal()
		return
	}
	l.connect(0)
}

// leave leaves what was appended to the writer, and unlocks l.mu.
func (l *Lane) leave() {
	if s := l.stream; s != nil && s.to != nil {
		l.release()
		return
	}
	l.wake()
	l.mu.Unlock()
}

// Wait returns when not too much is on its way, or the peer is gone, or ctx is done.
// It is for those who issue, never for a lane's reader.
func (l *Lane) Wait(ctx context.Context) error {
	return l.until(ctx, func() bool { return l.under() <= MostKept })
}

// Settled returns when everything up to the goodbye is acknowledged, or the peer is gone, or ctx is
// done. A peer that has taken the goodbye may go, and acknowledge nothing that comes after it.
func (l *Lane) Settled(ctx context.Context) error {
	return l.until(ctx, func() bool {
		return l.link.Settled() || l.bye > 0 && l.link.Delivered(l.bye)
	})
}

// Parted ends the stream to a peer that has left, and returns when the peer has read all of it, or ctx
// is done. Nothing is appended to the lane any more.
//
// This side ends its direction after the last acknowledgement. The peer reads that end after
// everything before it, and then ends the stream. A connection that is closed at once may lose the
// acknowledgement. The peer would wait for it, and with QUIC it would not notice that this node is gone.
func (l *Lane) Parted(ctx context.Context) {
	l.mu.Lock()
	s := l.stream
	if s == nil {
		l.mu.Unlock()
		return
	}
	s.last = true
	l.work.Signal()
	l.mu.Unlock()
	select {
	case <-s.ended:
	case <-ctx.Done():
	}
}

func (l *Lane) until(ctx context.Context, done func() bool) error {
	for {
		l.mu.Lock()
		if l.over != nil || done() {
			err := l.over
			l.mu.Unlock()
			return err
		}
		progress := l.awaited()
		l.mu.Unlock()
		select {
		case <-progress:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// awaited is closed when frames are acknowledged. l.mu is held.
func (l *Lane) awaited() <-chan struct{} {
	if l.progress == nil {
		l.progress = make(chan struct{})
	}
	return l.progress
}

// progressed wakes the goroutines that wait for acknowledgements. l.mu is held.
func (l *Lane) progressed() {
	if l.progress != nil {
		close(l.progress)
		l.progress = nil
	}
}

// Loose appends a frame without a number, if there is a stream: it would be of no use
// to the next one.
func (l *Lane) Loose(k wire.Kind, frame func(b []byte) []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stream != nil {
		l.link.PutLoose(func(b []byte) []byte {
			before := len(b)
			b = frame(b)
			l.out.add(k, len(b)-before)
			return b
		})
		l.work.Signal()
	}
}

// Acknowledge tells the peer what has been taken, also if it is little.
func (l *Lane) Acknowledge() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stream == nil || l.taking {
		return
	}
	l.says(true)
	if l.link.Pending() {
		l.work.Signal()
	}
}

// Send appends a parcel. It is written at once, unless soon is set: then it travels with
// what comes next.
func (l *Lane) Send(parcel *wire.Parcel, bulk []byte, soon bool) error {
	h := wire.Head{Bulk: len(bulk)}
	l.mu.Lock()
	if err := l.open(); err != nil {
		l.mu.Unlock()
		return err
	}
	h.Number = l.link.Next()
	room := l.link.Room(len(parcel.Header) + MostParcelHead)
	l.put(wire.KindParcel, parcel.Append(room, h), bulk)
	if soon {
		l.leave()
	} else {
		l.release()
	}
	return nil
}

// open is why nothing can be appended, nil if it can. l.mu is held.
func (l *Lane) open() error {
	if l.over != nil {
		return l.over
	}
	if kept := l.under(); kept > l.node.Backlog {
		return fmt.Errorf("%w: %d bytes for node %d are not acknowledged: send less, or call Pace", ErrBacklog, kept, l.peer)
	}
	return nil
}

// Number is the number of the peer.
func (l *Lane) Number() int { return l.peer }

// Kind says which lane it is.
func (l *Lane) Kind() transport.Kind { return l.kind }

// Bye says, once, that nothing more comes, if the two nodes have to do with each other. Met says
// that they had.
func (l *Lane) Bye(met bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over == nil && l.bye == 0 && (l.stream != nil || l.calling || met) {
		l.bye = l.link.Next()
		l.put(wire.KindBye, wire.AppendBye(l.link.Room(MostParcelHead), l.bye), nil)
		l.wake()
	}
}

// AfterHanding calls f when what is being handed over now is taken.
func (l *Lane) AfterHanding(f func()) {
	l.handing.Lock()
	defer l.handing.Unlock()
	f()
}

// MostParcelHead is the size of a parcel's header beside that which is in it.
const MostParcelHead = 48

// Finish ends the lane for good. Frames that are not written yet are never
// written. If sever is set, the stream ends now; otherwise it ends by itself. It returns the newest stream, which may have
// broken before and not have ended, or nil.
func (l *Lane) Finish(why error, sever bool) *Stream {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.stream
	if l.over == nil {
		l.over = why
	}
	l.lent = nil // never settled: see arena
	l.progressed()
	switch {
	case s == nil:
		l.link.Restart()
	case sever:
		l.sever(s, why)
	}
	return l.last
}

// Match the errors of lanes by these.
var (
	// ErrBacklog is a frame for a node that does not take what was sent before.
	ErrBacklog = errors.New("p2p: backlog is full")
	// ErrLeft is the loss of a node that has said that it leaves.
	ErrLeft = node.ErrLeft
	// ErrProtocol is something that no correct node sends.
	ErrProtocol = node.ErrProtocol

	errReplaced = errors.New("the other side has opened a new one")
	// errSevered ends a reader whose stream is over anyway.
	errSevered = errors.New("p2p: stream is over")
	// errGivenUp is a node that has said in its memory that it has given this one up.
	errGivenUp = errors.New("it has given this node up")
)

// Protocol is an error that matches ErrProtocol.
func Protocol(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrProtocol, fmt.Sprintf(format, args...))
}

// isAny reports whether err matches any of the targets.
func isAny(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
}
