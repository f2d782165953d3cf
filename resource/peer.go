package resource

import (
	"cmp"
	"fmt"
	"slices"
)

// peer is what the home knows of a mirror.
type peer struct {
	node        Node
	incarnation uint64
	lost        bool   // this incarnation
	alone       bool   // it was told so with its last grant, and may have a release that is wanted
	got, sent   uint64 // sequence numbers
	known       uint64 // one more than the version that the mirror has

	first, last int
	count       int        // from the first to the last
	index       map[ID]int // of them, nil while they are few
	granted     []int      // about to be told
}

// admit finds the mirror that a message is from, if the message is of this life of
// both halves, and the next in its order.
func (h *Home) admit(m *Message) (*peer, error) {
	if m.Resource != h.o.Resource {
		return nil, fmt.Errorf("%w: %v of node %d is for resource %d, this is %d", ErrMalformed, m, m.Node, m.Resource, h.o.Resource)
	}
	if m.Epoch != h.ledger.Epoch() {
		h.refuseLife(m.Node, m.Incarnation, AnotherEpoch)
		return nil, fmt.Errorf("%w: %v of node %d is for epoch %d, this is %d", ErrOtherLife, m, m.Node, m.Epoch, h.ledger.Epoch())
	}
	place, known := h.locate(m.Node)
	p := (*peer)(nil)
	if known {
		p = h.peers[place]
	}
	switch {
	case h.over == Broken:
		h.refuseLife(m.Node, m.Incarnation, Broken)
		return nil, fmt.Errorf("%w: %v of node %d: %w", ErrOtherLife, m, m.Node, ErrBroken)
	case p == nil:
		if err := m.number(0); err != nil {
			return nil, err
		}
		p = &peer{node: m.Node, incarnation: m.Incarnation, first: noTicket, last: noTicket}
		h.peers = slices.Insert(h.peers, place, p)
	case m.Incarnation < p.incarnation, m.Incarnation == p.incarnation && p.lost:
		h.refuseLife(m.Node, m.Incarnation, Ended)
		return nil, fmt.Errorf("%w: %v of node %d is from life %d, which is over", ErrOtherLife, m, m.Node, m.Incarnation)
	case m.Incarnation > p.incarnation:
		if err := m.number(0); err != nil {
			return nil, err
		}
		h.drop(p)
		p.incarnation, p.lost, p.got, p.sent = m.Incarnation, false, 0, 0
	default:
		if err := m.number(p.got); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Lost says that a node is lost. Its requests leave the line, its grants are released,
// and the bytes that it was writing are discarded. A node that is alive after all is
// told to begin a new life, now and after each late message of this life.
func (h *Home) Lost(n Node, out []Message) []Message {
	h.begin(out)
	if p := h.lose(n); p != nil {
		h.refuseLife(n, p.incarnation, Ended)
	}
	return h.end()
}

// Back says that a node, which may have been lost, has begun a new life, and knows that
// its old requests and grants are over.
func (h *Home) Back(n Node, out []Message) []Message {
	h.begin(out)
	h.lose(n)
	return h.end()
}

// lose ends the life of a node's mirror, unless that is over.
func (h *Home) lose(n Node) *peer {
	place, known := h.locate(n)
	if !known || h.peers[place].lost {
		return nil
	}
	p := h.peers[place]
	h.drop(p)
	p.lost = true
	return p
}

// Break ends the resource: every mirror is told, and none gets another grant. Break
// does not call the line, which knows already.
func (h *Home) Break(out []Message) []Message {
	h.begin(out)
	if h.over != Broken {
		h.over = Broken
		for at := range h.tickets {
			if h.tickets[at].state != ticketFree {
				h.forget(at)
			}
		}
		h.granted, h.batch = h.granted[:0], h.batch[:0]
		for _, p := range h.peers {
			p.granted = p.granted[:0]
			h.setAlone(p, false)
			if !p.lost {
				p.lost = true
				h.refuseLife(p.node, p.incarnation, Broken)
			}
		}
	}
	return h.end()
}

// locate is where a node's mirror is, or would be, among the peers.
func (h *Home) locate(n Node) (place int, known bool) {
	return slices.BinarySearchFunc(h.peers, n, func(p *peer, n Node) int { return cmp.Compare(p.node, n) })
}

// drop takes all requests of a mirror out of the line. It first cancels those that
// wait, from the last to the first, so that it grants none of them on the way. The
// ledger records the losses before any request is granted because of them.
func (h *Home) drop(p *peer) {
	h.setAlone(p, false)
	if p.first == noTicket {
		return
	}
	for at := p.first; at != noTicket; at = h.tickets[at].next {
		if t := &h.tickets[at]; t.state == ticketTold {
			h.ledger.Lose(t.mode)
		}
	}
	if h.ledger.Aborted() {
		h.abort(p)
		return
	}
	for at := p.last; at != noTicket; {
		t := &h.tickets[at]
		before := t.prev
		switch {
		case t.state != ticketWaits:
		case h.line.Cancel(ticketID(at)):
			h.forget(at)
		default:
			h.unlink(at)
			t.state = ticketOrphaned
		}
		at = before
	}
	for p.first != noTicket {
		at := p.first
		h.forget(at)
		h.line.Release(ticketID(at))
	}
}

// abort ends the resource. It tells every request that waits, except the requests of
// the lost mirror p.
func (h *Home) abort(p *peer) {
	h.over = Aborted
	for at := range h.tickets {
		t := &h.tickets[at]
		if t.state == ticketFree {
			continue
		}
		if t.state == ticketWaits && t.peer != p {
			h.refuse(t.peer, t.id, Aborted)
		}
		h.forget(at)
	}
	h.line.Abort()
}
