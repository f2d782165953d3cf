package transport

import (
	"net"

	"github.com/libp2p/go-libp2p/core/network"
)

// yielding keeps bulk from delaying grants where processes that encrypt outnumber processors. The
// thread that encrypts is ready all the time. A goroutine that a small frame has woken waits until
// the system takes the processor away from that thread, for a millisecond or more. So it
// offers the processor after each share of bulk, as long as others talk. A block that travels alone
// is not held up.
//
// It stands between the multiplexer of a data lane and the encryption.
type yielding struct {
	network.Multiplexer
	talk func() uint64 // how many frames have come to this node by control lanes
}

// NewConn implements network.Multiplexer.
func (m yielding) NewConn(c net.Conn, server bool, scope network.PeerScope) (network.MuxedConn, error) {
	p := &yieldingConn{Conn: c}
	p.in = manners{talk: m.talk, offer: offerProcessor}
	p.out = p.in
	return m.Multiplexer.NewConn(p, server, scope)
}

// yieldingConn is a connection whose bytes give way to others.
type yieldingConn struct {
	net.Conn
	in, out manners // of the one goroutine that reads, and the one that writes
}

// Read implements net.Conn.
func (p *yieldingConn) Read(b []byte) (int, error) {
	n, err := p.Conn.Read(b)
	p.in.passed(n)
	return n, err
}

// Write implements net.Conn.
func (p *yieldingConn) Write(b []byte) (int, error) {
	n, err := p.Conn.Write(b)
	p.out.passed(n)
	return n, err
}

// manners is the state of one direction.
type manners struct {
	talk  func() uint64
	offer func()

	heard  uint64 // talk, when the last stretch began
	passes int    // bytes since
	share  int    // bytes since the last offer, or the beginning
	others bool   // have talked, in the last stretch
}

const (
	// yieldShare is after how much an offer is made: a quarter of a millisecond's.
	// Less costs more and gains nothing, twice as much gains little.
	yieldShare = dataFrame
	// stretch is how much passes before it is looked whether others talk.
	stretch = 4 * yieldShare
	// small is, at most, how many frames in a stretch are no talk: blocks have their own grants.
	small = 4
)

// passed says that so many bytes have passed.
func (m *manners) passed(n int) {
	m.share += n
	m.passes += n
	if m.passes >= stretch {
		heard := m.talk()
		m.others = heard-m.heard > small
		m.heard, m.passes = heard, 0
	}
	if m.share >= yieldShare {
		m.share = 0
		if m.others {
			m.offer()
		}
	}
}
