package lane

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/internal/tally"
	"github.com/orwl/go-orwl/net/engine"
	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/net/p2p/internal/loan"
	"github.com/orwl/go-orwl/net/p2p/internal/transport"
	"github.com/orwl/go-orwl/net/wire"
)

// Stream is what carries a lane's frames at the moment. It has a writer and a reader,
// and is over when either has failed: the lane will have another.
type Stream struct {
	lane *Lane
	raw  *transport.Conn
	in   *wire.Input

	broken bool          // reader and writer must end; guarded by lane.mu
	last   bool          // nothing comes after the pending frames; guarded by lane.mu
	mute   bool          // this direction has ended: nothing more is written; guarded by lane.mu
	ended  chan struct{} // closed when both have ended

	desk desk      // guarded by lane.mu
	to   *outbound // where the owner of the desk writes; nil: to raw

	// Used by the goroutine that owns the desk.
	told   bool // the peer knows that it reads there
	pieces []engine.Piece
	joined []byte

	inbound

	// Used by the reader.
	taken   uint64 // the number of the last frame
	hands   bool   // it holds lane.handing
	operand wire.Operation
	said    wire.Reply
	bulk    []byte
	spares  loan.Spares
}

// Attach gives the lane a new stream, whose other end has taken all frames up to
// received, in the place of the one that it may have. If greet is not nil, it is
// called when the old one has ended.
func (l *Lane) Attach(s *Stream, received uint64, greet func(taken uint64) error) error {
	l.seat.Lock()
	defer l.seat.Unlock()
	l.mu.Lock()
	if old := l.last; old != nil {
		l.sever(old, errReplaced)
		l.mu.Unlock()
		<-old.ended
		l.mu.Lock()
	}
	err := l.over
	if err == nil {
		l.node.Counts.Retries.Add(l.link.Again(received))
		err = l.link.Resume(received)
	}
	if err == nil {
		l.settle(received)
		l.progressed()
	}
	s.taken = l.link.Taken()
	taken := l.received()
	l.mu.Unlock()
	if err == nil && greet != nil {
		err = greet(taken)
	}
	if err == nil {
		err = s.raw.SetDeadline(time.Time{})
	}
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over != nil {
		return l.over
	}
	l.node.Counts.Streams.Add(1)
	if l.streams > 0 {
		l.node.Counts.Resumes.Add(1)
	}
	l.streams++
	l.stream, l.last = s, s
	if l.attached != nil {
		close(l.attached)
		l.attached = nil
	}
	l.node.Go(s.run)
	return nil
}

// sever ends a stream. l.mu is held.
func (l *Lane) sever(s *Stream, why error) {
	if s.broken {
		return
	}
	s.broken = true
	if l.stream == s {
		l.stream = nil
	}
	if why != nil {
		l.node.Log.Debug("stream is over", "peer", l.peer, "lane", l.kind.String(), "why", why)
	}
	s.raw.SetDeadline(time.Unix(1, 0)) // wakes both, whatever they wait for
	l.work.Broadcast()
}

// run writes and reads until either fails.
func (s *Stream) run() {
	l := s.lane
	var reader sync.WaitGroup
	reader.Go(func() {
		err := s.read()
		l.fault(s, err)
		l.broke(s, err)
	})
	l.broke(s, s.write())
	reader.Wait()
	close(s.ended)
	l.mu.Lock()
	switch {
	case l.over != nil:
		l.link.Restart()
		l.last = nil
	case l.stream == nil && (l.kind == transport.Control || !l.link.Settled()):
		l.connect(l.patience())
	}
	l.mu.Unlock()
	s.raw.Close()
}

// broke severs a stream, unless that was done.
func (l *Lane) broke(s *Stream, why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !s.broken {
		l.sever(s, why)
	}
}

// fault counts what made a stream's reader give up, if that was the peer's doing. A
// peer that goes on with it is given up.
func (l *Lane) fault(s *Stream, err error) {
	l.mu.Lock()
	broken := s.broken
	l.mu.Unlock()
	if broken || err == nil {
		return
	}
	counts := l.node.Counts
	switch {
	case errors.Is(err, wire.ErrTooLarge):
		counts.Oversize.Add(1)
	case errors.Is(err, wire.ErrChecksum):
		counts.Checksums.Add(1)
	case isAny(err, wire.ErrMalformed, engine.ErrGap, engine.ErrResume, engine.ErrOperation, ErrProtocol):
		counts.Malformed.Add(1)
	default:
		return
	}
	l.up.Misbehaved(fmt.Errorf("on the %v lane: %w", l.kind, err))
}

// Fault counts what made a connection of the peer useless before it had a stream.
func (l *Lane) Fault(err error) { l.fault(&Stream{lane: l}, err) }

// Ended is closed when both the writer and the reader of the stream have ended.
func (s *Stream) Ended() <-chan struct{} { return s.ended }

// Next is the next frame of a stream that is not attached yet.
func (s *Stream) Next() (wire.Head, wire.Reader, error) { return s.in.Next() }

// Attached is the stream that the lane has, or nil.
func (l *Lane) Attached() *Stream {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stream
}

// Sever ends the stream that the lane has.
func (l *Lane) Sever(why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.stream; s != nil {
		l.sever(s, why)
	}
}

func newStream(l *Lane, raw *transport.Conn) *Stream {
	return &Stream{
		lane: l, raw: raw, ended: make(chan struct{}),
		in:     wire.NewInput(&counted{raw, &l.node.Counts.BytesIn}, l.node.MaxBulk),
		spares: loan.NewSpares(l.node.Hoard),
	}
}

// counted counts what is read.
type counted struct {
	r     io.Reader
	bytes *atomic.Uint64
}

// Read implements io.Reader.
func (c *counted) Read(b []byte) (int, error) {
	k, err := c.r.Read(b)
	c.bytes.Add(uint64(k))
	return k, err
}

// AddTo adds to t what went over the lane so far.
func (l *Lane) AddTo(t *node.Traffic) {
	for k := range wire.Kinds {
		t.In[k].Frames += l.in[k].frames.Load()
		t.In[k].Bytes += l.in[k].bytes.Load()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for k, f := range l.out {
		t.Out[k].Frames += f.Frames
		t.Out[k].Bytes += f.Bytes
	}
}

// arrivals are what a lane's reader counts. There is one reader at a time: Attach waits
// for the end of the last one before it starts the next.
type arrivals [wire.Kinds]struct{ frames, bytes tally.Count }

func (a *arrivals) add(k wire.Kind, size int) {
	a[k].frames.Inc()
	a[k].bytes.Add(uint64(size))
}

// departures are what is appended to a lane. l.mu is held.
type departures [wire.Kinds]node.Flow

func (d *departures) add(k wire.Kind, size int) {
	d[k].Frames++
	d[k].Bytes += uint64(size)
}

// put appends a numbered frame to the lane: see engine.Link.Put. l.mu is held.
func (l *Lane) put(k wire.Kind, room, bulk []byte) {
	before := l.link.Kept()
	l.link.Put(room, bulk)
	l.out.add(k, l.link.Kept()-before)
}

// says appends an acknowledgement, if it is time for one. l.mu is held.
func (l *Lane) says(now bool) {
	if size := l.link.Acknowledge(now); size > 0 {
		l.out.add(wire.KindAck, size)
	}
}
