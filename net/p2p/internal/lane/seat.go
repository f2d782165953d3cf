package lane

import (
	"time"

	"github.com/orwl/go-orwl/net/p2p/internal/transport"
)

// How a lane gets a stream: the peer dials for it (Peer.Call), or the other side has
// dialled. Dials, Yields and Attach decide between the two.

// politeness is how long the node with the greater number leaves it to the other to open
// a stream again that broke for both.
const politeness = 50 * time.Millisecond

// Connect sees to it that the lane gets a stream.
func (l *Lane) Connect() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.connect(0)
}

// connect is Connect, after a pause. l.mu is held.
func (l *Lane) connect(pause time.Duration) {
	if l.calling || l.stream != nil || l.over != nil {
		return
	}
	l.calling = true
	l.up.Call(l.kind, pause)
}

// patience is how long to wait before a stream that broke is opened again.
func (l *Lane) patience() time.Duration {
	if l.node.Number > l.peer {
		return politeness
	}
	return 0
}

// Dials reports, after a pause, whether to dial. If not, the caller stops: the
// lane has a stream, or needs none.
func (l *Lane) Dials(pause time.Duration) bool {
	if attached := l.pausing(pause); attached != nil {
		l.pause(pause, attached)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dialling = l.vacant() && l.up.Context().Err() == nil
	l.calling = l.dialling
	return l.dialling
}

// vacant reports whether the lane needs a stream. l.mu is held.
func (l *Lane) vacant() bool { return l.stream == nil && l.over == nil }

// pausing is what ends a pause early: the lane has a stream. It is nil if there is no
// pause.
func (l *Lane) pausing(pause time.Duration) chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.vacant() || pause == 0 {
		return nil
	}
	l.attached = make(chan struct{})
	return l.attached
}

// pause waits, at most until the peer is gone or the lane has a stream.
func (l *Lane) pause(d time.Duration, attached <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-attached:
	case <-l.up.Context().Done():
	}
}

// Dialled ends what Dials has begun.
func (l *Lane) Dialled() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dialling = false
}

// Yields reports whether a stream that the other side opens is taken. If both sides
// open one at the same time, the one that the node with the lower number opens is taken.
func (l *Lane) Yields() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.dialling && !l.replaces || l.node.Number > l.peer
}

// Replaces reports whether to say hello on a new connection that is to take the place of
// the stream. If so, call Replaced afterwards.
func (l *Lane) Replaces() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.replaces || l.over != nil {
		return false
	}
	l.replaces = true
	return true
}

// Replaced ends what Replaces has begun.
func (l *Lane) Replaced() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.replaces = false
}

// Vacant reports whether the lane needs a stream.
func (l *Lane) Vacant() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.vacant()
}

// Next is the number of the frame that is appended next.
func (l *Lane) Next() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.link.Next()
}

// Taken is how many frames of the peer are taken: what a hello says.
func (l *Lane) Taken() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.received()
}

// received is Taken. l.mu is held.
func (l *Lane) received() uint64 {
	taken := l.link.Taken()
	if l.taking {
		taken-- // the old stream's reader still has the loan
	}
	return taken
}

// Stream is a stream of the lane, which is not attached yet.
func (l *Lane) Stream(raw *transport.Conn) *Stream {
	return newStream(l, raw)
}
