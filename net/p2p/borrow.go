package p2p

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/orwl/go-orwl/net/p2p/internal/loan"
	"github.com/orwl/go-orwl/net/p2p/internal/transport"
	"github.com/orwl/go-orwl/net/wire"
)

// errGivenUp is a node that has said in its memory that it has given this one up.
var errGivenUp = errors.New("it has given this node up")

// loan takes a parcel whose bulk is in the arena of the node that sends it. It is
// acknowledged when it has been taken: then whoever has lent it may do with the memory
// what it likes.
func (s *stream) loan(h wire.Head, body wire.Reader) error {
	var f wire.Loan
	if err := f.Parse(body); err != nil {
		return err
	}
	p := s.lane.peer
	m := p.mapping.Load()
	if m == nil || s.lane.kind != transport.Control {
		return protocolError("a loan on the %v lane, of an arena that is not mapped", s.lane.kind)
	}
	bulk, err := m.Borrow(f.Offset, f.Length, p.node.options.MaxBulk)
	if errors.Is(err, loan.ErrOutside) {
		return fmt.Errorf("%w: %w", ErrProtocol, err)
	}
	if err != nil {
		return err
	}
	defer m.GiveBack()
	if err := s.borrowed(h, f.Length); err != nil {
		return err
	}
	defer s.lane.settles()
	if err := p.takeLoan(m, &f, bulk); err != nil {
		return err
	}
	if !m.Valid() {
		p.lose(errGivenUp)
	}
	p.node.counts.Borrowed.Add(1)
	return nil
}

// takeLoan hands a parcel over.
func (p *peer) takeLoan(m *loan.Mapping, f *wire.Loan, bulk []byte) error {
	n, from := p.node, p.number
	r, known := n.receiver(f.Channel)
	if known && r.TakeLent != nil {
		return r.TakeLent(from, f.Header, bulk, m.Check)
	}
	own := bytes.Clone(bulk)
	switch {
	case !m.Valid():
		return nil // nobody knows what it was
	case known:
		return r.Take(from, f.Header, own)
	}
	return n.hold(from, f.Channel, f.Header, own)
}

// borrowed says that a loan has come, and is not taken yet.
func (s *stream) borrowed(h wire.Head, size int) error {
	l := s.lane
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.broken {
		return errSevered
	}
	// What lies in the arena anyway need not be settled soon; but before so much is
	// under way that the other side waits.
	const header, each = 32, 64
	if err := l.link.Arrived(h.Number, header+size/each); err != nil {
		return err
	}
	s.taken++
	l.taking = true
	return nil
}

// settles says that it is.
func (l *lane) settles() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.taking = false
	if l.stream == nil {
		return
	}
	if l.says(false); l.link.Pending() {
		l.work.Signal()
	}
}
