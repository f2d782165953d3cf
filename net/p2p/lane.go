package p2p

import (
	"context"
	"fmt"
	"sync"

	"github.com/orwl/go-orwl/net/engine"
	"github.com/orwl/go-orwl/net/p2p/internal/transport"
	"github.com/orwl/go-orwl/net/wire"
)

// lane is this node's end of one of the two lanes to another. Whatever is appended
// to its link is written by the stream that the lane has, or by the next.
//
//	            connect               attach
//	no stream ──────────▶ calling ──────────────▶ stream
//	    ▲                    ▲                      │
//	    └─ nothing to write ─┴────── it broke ──────┘
//
// To append, for whoever has something to say:
//
//	l.mu.Lock()
//	room := l.link.Room(size)
//	... append the frame with number l.link.Next() to room
//	l.put(kind, room, bulk)
//	l.release() // or l.wake() and l.mu.Unlock()
type lane struct {
	node *Node
	peer *peer
	kind transport.Kind

	// seat is held while a stream takes the place of another.
	seat sync.Mutex

	// The reader's own.
	behind bool // it has more to take already
	in     arrivals
	// handing is held by the data lane's, while it hands over what has arrived; others
	// wait for that, since a node that says on the control lane that it leaves may have
	// sent it before.
	handing sync.Mutex

	mu       sync.Mutex
	link     engine.Link
	out      departures
	calls    engine.Calls
	stream   *stream       // nil if there is none
	last     *stream       // that it had: at most one has not ended
	streams  uint64        // that there were
	calling  bool          // somebody sees to it that there will be one
	dialling bool          // and is dialling just now
	attached chan struct{} // or pauses, until this is closed
	over     error         // why there will be none any more
	lent     []debt        // not settled, in their order
	owing    int           // bytes of them
	taking   bool          // a loan of the peer's is, which is not to be acknowledged yet
	work     sync.Cond     // the writer waits for something to write, or its end
	progress chan struct{} // closed when frames are acknowledged, if somebody waits
}

const (
	// dataFrom is from which size on bulk goes by the data lane.
	dataFrom = 8<<10 + 1
	// mostKept is how many bytes may be on their way before those who issue more
	// have to wait.
	mostKept = 4 << 20
)

func (l *lane) init(p *peer, kind transport.Kind) {
	l.node, l.peer, l.kind = p.node, p, kind
	l.work.L = &l.mu
}

// wake sees to it that what was appended is written. l.mu is held.
func (l *lane) wake() {
	if l.stream != nil {
		l.work.Signal()
		return
	}
	l.connect(0)
}

// leave leaves what was appended to the writer, and unlocks l.mu.
func (l *lane) leave() {
	l.wake()
	l.mu.Unlock()
}

// wait returns when not too much is on its way, or the peer is gone, or ctx is done.
// It is for those who issue, never for a lane's reader.
func (l *lane) wait(ctx context.Context) error {
	return l.until(ctx, func() bool { return l.under() <= mostKept })
}

// settled returns when everything is acknowledged, or the peer is gone, or ctx is
// done.
func (l *lane) settled(ctx context.Context) error {
	return l.until(ctx, l.link.Settled)
}

func (l *lane) until(ctx context.Context, done func() bool) error {
	for {
		l.mu.Lock()
		if l.over != nil || done() {
			err := l.over
			l.mu.Unlock()
			return err
		}
		if l.progress == nil {
			l.progress = make(chan struct{})
		}
		progress := l.progress
		l.mu.Unlock()
		select {
		case <-progress:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// progressed wakes those who wait for acknowledgements. l.mu is held.
func (l *lane) progressed() {
	if l.progress != nil {
		close(l.progress)
		l.progress = nil
	}
}

// loose appends a frame without a number, if there is a stream: it would be of no use
// to the next one.
func (l *lane) loose(k wire.Kind, frame func(b []byte) []byte) {
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

// acknowledge tells the peer what has been taken, also if it is little.
func (l *lane) acknowledge() {
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

// send appends a parcel, and has it written by release or by leave.
func (l *lane) send(parcel *wire.Parcel, bulk []byte, off func(*lane)) error {
	h := wire.Head{Bulk: len(bulk)}
	l.mu.Lock()
	if err := l.open(); err != nil {
		l.mu.Unlock()
		return err
	}
	h.Number = l.link.Next()
	room := l.link.Room(len(parcel.Header) + mostParcelHead)
	l.put(wire.KindParcel, parcel.Append(room, h), bulk)
	off(l)
	return nil
}

// open is why nothing can be appended, nil if it can. l.mu is held.
func (l *lane) open() error {
	if l.over != nil {
		return l.over
	}
	if kept := l.under(); kept > l.node.options.Backlog {
		return fmt.Errorf("%w: %d bytes for node %d are not acknowledged: send less, or call Pace", ErrBacklog, kept, l.peer.number)
	}
	return nil
}

// mostParcelHead is the size of a parcel's header beside that which is in it.
const mostParcelHead = 48

// finish ends the lane for good. What was not written is never written; the stream is
// severed, unless it is to end by itself.
func (l *lane) finish(why error, sever bool) *stream {
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
	return s
}
