package lane

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/net/p2p/internal/loan"
	"github.com/orwl/go-orwl/net/p2p/internal/ring"
	"github.com/orwl/go-orwl/net/p2p/internal/transport"
	"github.com/orwl/go-orwl/net/wire"
)

// Two nodes that have mapped each other's arenas need no socket for their frames. The frame Ring is the last one of
// a direction of a stream that goes by the socket. All later frames go by a ring, in the same form. The socket stays
// open: when it ends, so does the stream, after the frames that are in the ring.
//
// A worker of this node that has nothing better to do takes the frames, or the goroutine that the bell
// wakes. See package ring.

// outbound is a ring for a peer. The streams of a lane write to it one after another.
type outbound struct {
	ring   *ring.Writer
	offset uint64
	peer   *loan.Mapping
}

// toPeer is the lane's ring, nil if there is none. l.mu is held.
func (l *Lane) toPeer() *outbound {
	if l.ring != nil || l.kind != transport.Control || !l.up.Lends() {
		return l.ring
	}
	if m := l.up.Mapping(); m != nil {
		if w, offset := l.node.Memory.Shared().Ring(m); w != nil {
			l.ring = &outbound{w, uint64(offset), m}
		}
	}
	return l.ring
}

// full is how long a writer waits for room in a ring.
const full = 50 * time.Microsecond

// toRing writes whole frames to the ring, all at once: so a reader never finds a part of a frame, and never waits for
// the rest. On the control lane no frame is as large as a ring, and bulk lies behind its header.
func (s *Stream) toRing(b []byte) error {
	for s.to.ring.Room() < len(b) {
		if s.severed() {
			return errSevered
		}
		s.to.peer.Wake()
		time.Sleep(full)
	}
	s.to.ring.Write(b)
	if s.to.ring.Rings() {
		s.to.peer.Wake()
	}
	return nil
}

func (s *Stream) severed() bool {
	s.lane.mu.Lock()
	defer s.lane.mu.Unlock()
	return s.broken
}

// inbound is how a stream reads from a ring.
type inbound struct {
	ring *ring.Reader // nil: it reads from raw

	reading sync.Mutex // held while frames are taken from the ring
	fault   error      // why no more are taken
}

// follow has the stream read from a ring from now on.
func (s *Stream) follow(f wire.Ring) error {
	l := s.lane
	m := l.up.Mapping()
	if m == nil || l.kind != transport.Control || s.ring != nil || s.in.Buffered() > 0 {
		return Protocol("a ring on the %v lane, which cannot be", l.kind)
	}
	r, err := m.Ring(l.node.Memory.Shared(), l.peer, f.Offset, f.At)
	if err != nil {
		return Protocol("%v", err)
	}
	s.ring, s.in = r, wire.NewInput(&counted{whole{s}, &l.node.Counts.BytesIn}, l.node.MaxBulk)
	return nil
}

// whole reads from the ring of a stream. It is asked only if a frame has begun, and all of it is there then.
type whole struct{ s *Stream }

// Read implements io.Reader.
func (w whole) Read(b []byte) (int, error) {
	n, err := w.s.ring.Read(b)
	switch {
	case err != nil:
		return 0, Protocol("%v", err)
	case n == 0:
		return 0, Protocol("a part of a frame in a ring")
	}
	return n, nil
}

// more reports whether there is something to read.
func (s *Stream) more() bool { return s.in.Buffered() > 0 || s.ring != nil && !s.ring.Empty() }

// mostAtOnce is how many frames one look takes.
const mostAtOnce = 64

// look takes frames from the ring, and reports whether there were some. If another goroutine takes them, it
// leaves them to that one, or waits.
func (s *Stream) look(wait bool) (some bool) {
	if wait {
		s.reading.Lock()
	} else if !s.reading.TryLock() {
		return false
	}
	defer s.reading.Unlock()
	for i := 0; i < mostAtOnce && s.fault == nil && s.more(); i++ {
		some = true
		if s.fault = s.frame(); s.fault != nil {
			s.lane.fault(s, s.fault)
			s.lane.broke(s, s.fault)
		}
	}
	return some
}

// readRing has others take the frames from the ring until the stream ends.
func (s *Stream) readRing() error {
	n := s.lane.node
	n.rings.change(func(all []*Stream) []*Stream { return append(slices.Clone(all), s) })
	for s.look(true) { // others did not know of this stream before
	}
	var none [1]byte
	k, err := s.raw.Read(none[:])
	if k > 0 {
		err = Protocol("bytes behind a ring")
	}
	n.rings.change(func(all []*Stream) []*Stream {
		return slices.DeleteFunc(slices.Clone(all), func(o *Stream) bool { return o == s })
	})
	s.reading.Lock()
	defer s.reading.Unlock()
	for s.fault == nil && s.more() {
		s.fault = s.frame()
	}
	if s.fault == nil {
		s.fault = err
	}
	return s.fault
}

// rings are the streams of a node that come by rings.
type rings struct {
	attention ring.Attention
	mu        sync.Mutex
	all       atomic.Pointer[[]*Stream]
}

func (r *rings) change(f func([]*Stream) []*Stream) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := f(r.streams())
	r.all.Store(&all)
}

func (r *rings) streams() []*Stream {
	if all := r.all.Load(); all != nil {
		return *all
	}
	return nil
}

// Attention has the word of the arena in which the node says whether it looks.
func (r *rings) Attention(word *atomic.Uint32) { r.attention.In(word) }

// Attend says that the caller looks from now on, again and again, until Leave.
func (r *rings) Attend() { r.attention.Begin() }

// Look takes what has come by rings, and reports whether something has.
func (r *rings) Look() bool { return r.look(false) }

func (r *rings) look(wait bool) (some bool) {
	for _, s := range r.streams() {
		some = s.look(wait) || some
	}
	return some
}

// Heard is called when the bell has rung.
func (r *rings) Heard() { r.attention.Heard(r.look) }

// Leave ends Attend. It may take what has come.
func (r *rings) Leave() { r.attention.End(r.look) }
