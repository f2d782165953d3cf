package lane

import "github.com/orwl/go-orwl/net/wire"

// Tests of the node above use these: they treat a lane as a network, or a hostile peer,
// would.

// Break closes the connection of the lane's stream, if it has one, as a network would.
func (l *Lane) Break() bool {
	s := l.Attached()
	if s != nil {
		s.raw.Close()
	}
	return s != nil
}

// LendRaw sends a loan that may lie anywhere.
func (l *Lane) LendRaw(f wire.Loan) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.link.Put(f.Append(l.link.Room(MostParcelHead), wire.Head{Number: l.link.Next()}), nil)
	l.wake()
}

// Owing is how many loans of how many bytes are not settled.
func (l *Lane) Owing() (loans, bytes int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.lent), l.owing
}
