package p2p

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/orwl/go-orwl/net/engine"
	"github.com/orwl/go-orwl/net/p2p/internal/loan"
	"github.com/orwl/go-orwl/net/p2p/internal/transport"
	"github.com/orwl/go-orwl/net/wire"
)

// stream is what carries a lane's frames at the moment. It has a writer and a reader,
// and is over when either has failed: the lane will have another.
type stream struct {
	lane *lane
	conn transport.Conn
	raw  transport.Stream
	in   *wire.Input

	broken bool          // both are to end; lane.mu
	ended  chan struct{} // closed when both have

	// Of whoever writes; lane.mu.
	writing bool // somebody does: what follows is his
	crowded bool // several frames went in the writer's last write
	turn    bool // something was received since
	last    uint64
	pieces  []engine.Piece
	joined  []byte

	// The reader's.
	taken   uint64 // the number of the last frame
	hands   bool   // it holds lane.handing
	operand wire.Operation
	said    wire.Reply
	bulk    []byte
	spares  loan.Spares
}

// attach gives the lane a new stream, whose other end has taken all frames up to
// received, in the place of the one that it may have. If greet is not nil, it is
// called when the old one has ended.
func (l *lane) attach(s *stream, received uint64, greet func(wire.Hello) error) error {
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
		l.node.counts.Retries.Add(l.link.Again(received))
		err = l.link.Resume(received)
	}
	if err == nil {
		l.settle(received)
		l.progressed()
	}
	s.taken = l.link.Taken()
	hello := l.hello()
	l.mu.Unlock()
	if err == nil && greet != nil {
		err = greet(hello)
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
	l.node.counts.Streams.Add(1)
	if l.streams > 0 {
		l.node.counts.Resumes.Add(1)
	}
	l.streams++
	l.stream, l.last = s, s
	if l.attached != nil {
		close(l.attached)
		l.attached = nil
	}
	l.node.group.Go(s.run)
	return nil
}

var errReplaced = errors.New("the other side has opened a new one")

// sever ends a stream. l.mu is held.
func (l *lane) sever(s *stream, why error) {
	if s.broken {
		return
	}
	s.broken = true
	if l.stream == s {
		l.stream = nil
	}
	if why != nil {
		l.node.log.Debug("stream is over", "peer", l.peer.number, "lane", l.kind.String(), "why", why)
	}
	s.raw.SetDeadline(time.Unix(1, 0)) // wakes both, whatever they wait for
	l.work.Broadcast()
}

// run writes and reads until either fails.
func (s *stream) run() {
	l, began := s.lane, time.Now()
	s.conn.Used()
	over := func(err error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if !s.broken {
			l.sever(s, err)
		}
	}
	var reader sync.WaitGroup
	reader.Go(func() {
		err := s.read()
		l.fault(s, err)
		over(err)
	})
	over(s.write())
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
	s.conn.Ended(time.Since(began))
}

// fault counts what made a stream's reader give up, if that was the peer's doing. A
// peer that goes on with it is given up.
func (l *lane) fault(s *stream, err error) {
	l.mu.Lock()
	broken := s.broken
	l.mu.Unlock()
	if broken || err == nil {
		return
	}
	counts := l.node.counts
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
	l.peer.misbehaved(fmt.Errorf("on the %v lane: %w", l.kind, err))
}
