package lane

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/orwl/go-orwl/net/p2p/internal/loan"
	"github.com/orwl/go-orwl/net/p2p/internal/transport"
	"github.com/orwl/go-orwl/net/wire"
)

// loan takes a parcel whose bulk is in the arena of the node that sends it. It is
// acknowledged when it has been taken: then the lender may use the memory again.
func (s *Stream) loan(h wire.Head, body wire.Reader) error {
	var f wire.Loan
	if err := f.Parse(body); err != nil {
		return err
	}
	l := s.lane
	m := l.up.Mapping()
	if m == nil || l.kind != transport.Control {
		return Protocol("a loan on the %v lane, of an arena that is not mapped", l.kind)
	}
	bulk, err := m.Borrow(f.Offset, f.Length, l.node.MaxBulk)
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
	defer l.settles()
	if err := l.takeLoan(m, &f, bulk); err != nil {
		return err
	}
	if !m.Valid() {
		l.up.Lose(errGivenUp)
	}
	l.node.Counts.Borrowed.Add(1)
	return nil
}

// takeLoan hands a parcel over.
func (l *Lane) takeLoan(m *loan.Mapping, f *wire.Loan, bulk []byte) error {
	n, from := l.node, l.peer
	r, known := n.Parcels.Receiver(f.Channel)
	if known && r.TakeLent != nil {
		return r.TakeLent(from, f.Header, bulk, m.Check)
	}
	own := bytes.Clone(bulk)
	switch {
	case !m.Valid():
		return nil // its content is unknown
	case known:
		return r.Take(from, f.Header, own)
	}
	return n.Parcels.Hold(from, f.Channel, f.Header, own)
}

// borrowed says that a loan has come, and is not taken yet.
func (s *Stream) borrowed(h wire.Head, size int) error {
	l := s.lane
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.broken {
		return errSevered
	}
	// A loan that lies in the arena anyway need not be settled soon, but before the other
	// side has to wait.
	const header, each = 32, 64
	if err := l.link.Arrived(h.Number, header+size/each); err != nil {
		return err
	}
	s.taken++
	l.taking = true
	return nil
}

// settles says that it is.
func (l *Lane) settles() {
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

// debt is a loan that is not settled.
type debt struct {
	number uint64 // of its frame
	block  *loan.Block
	size   int
}

// Lend appends a parcel whose bulk is lent: it lies in a block of the arena, and stays there
// until the peer has taken it. Call Takes before the block is made.
func (l *Lane) Lend(f *wire.Loan, b *loan.Block) error {
	l.mu.Lock()
	if l.over != nil {
		defer l.mu.Unlock()
		return l.over // the block stays: nothing that concerns the peer is used again
	}
	h := wire.Head{Number: l.link.Next()}
	l.put(wire.KindLoan, f.Append(l.link.Room(len(f.Header)+MostParcelHead), h), nil)
	l.lent = append(l.lent, debt{h.Number, b, f.Length})
	l.owing += f.Length
	l.node.Counts.Lent.Add(1)
	l.release()
	return nil
}

// Takes is why nothing can be appended, nil if it can.
func (l *Lane) Takes() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open()
}

// under is how many bytes are under way. l.mu is held.
func (l *Lane) under() int { return l.link.Kept() + l.owing }

// settle ends the loans of frames up to a number, which the peer has taken. l.mu is
// held.
func (l *Lane) settle(number uint64) {
	n := 0
	for n < len(l.lent) && l.lent[n].number <= number {
		l.owing -= l.lent[n].size
		l.node.Memory.Shared().Settle(l.lent[n].block)
		n++
	}
	if n > 0 {
		l.lent = append(l.lent[:0], l.lent[n:]...)
	}
}
