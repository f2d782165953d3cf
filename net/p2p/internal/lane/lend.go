package lane

import (
	"github.com/orwl/go-orwl/net/p2p/internal/loan"
	"github.com/orwl/go-orwl/net/wire"
)

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
