package resource

import "fmt"

// ticket is a mirror's request in the home's line.
//
//	(free) ─request─▶ waiting ──────▶ granted ─Grant is sent─▶ told ─release─▶ (free)
//	                     │ │             └────────the mirror is lost─────────────▲
//	                     │ └──────────cancelled, or the mirror is lost───────────┤
//	                     └─the mirror is lost, the line has granted─▶ orphaned ─▶ unwanted
type ticket struct {
	peer  *peer
	id    ID // the mirror's
	state ticketState
	mode  Mode
	fence uint64 // once told
	// The neighbours in the list of the mirror's requests, in their order. next also
	// links the free tickets.
	prev, next int
}

// ticketState is how far a ticket has come.
type ticketState uint8

const (
	ticketFree ticketState = iota
	ticketWaits
	ticketGranted  // by the line
	ticketTold     // to the mirror
	ticketOrphaned // granted by the line, which has not called Granted yet; the mirror is lost
	ticketUnwanted // the line has called Granted
)

// mostQueued bounds the requests of one node in a resource's queue, so that a hostile
// node cannot use up memory.
const mostQueued = 1 << 18

// noTicket stands for no ticket.
const noTicket = -1

// ticketID is a ticket's ID in the line.
func ticketID(at int) ID { return ID(at) | fromMirrors }

// request queues a mirror's request up.
func (h *Home) request(p *peer, m *Message) error {
	if _, queued := h.find(p, m.ID); queued {
		return fmt.Errorf("%w: %v of node %d: %w", ErrMalformed, m, m.Node, ErrQueued)
	}
	if m.Mode > Write {
		return fmt.Errorf("%w: %v of node %d: no such mode", ErrMalformed, m, m.Node)
	}
	if p.count >= mostQueued {
		return fmt.Errorf("%w: %v of node %d, which has %d in the line", ErrMalformed, m, m.Node, p.count)
	}
	if p.got == 0 {
		p.known = m.Known
	}
	if why := h.refusal(p, m.Mode); why != 0 {
		h.refuse(p, m.ID, why)
		return nil
	}
	h.line.Request(ticketID(h.issue(p, m)), m.Mode)
	return nil
}

// refusal is why a node may not request, or 0.
func (h *Home) refusal(p *peer, m Mode) Reason {
	switch {
	case h.over != 0:
		return h.over
	case h.o.Allow != nil && !h.o.Allow(p.node, m):
		return Forbidden
	}
	return 0
}

// release ends a mirror's access, and requests the next one of a pair.
func (h *Home) release(p *peer, m *Message) error {
	id, renew := m.ID, m.Kind == RenewMessage
	if renew {
		id = m.Old
	}
	at, queued := h.find(p, id)
	if !queued || h.tickets[at].state != ticketTold || h.tickets[at].fence != m.Fence {
		h.refuse(p, m.ID, Stale)
		return nil
	}
	if renew {
		if _, queued := h.find(p, m.ID); queued || m.Mode > Write {
			return fmt.Errorf("%w: %v of node %d: queued already, or no such mode", ErrMalformed, m, m.Node)
		}
	}
	if m.Reason == Abandoned && !m.Wrote {
		return h.abandoned(p, m, at)
	}
	if m.Wrote {
		if h.tickets[at].mode == Read {
			return fmt.Errorf("%w: %v of node %d: %w", ErrMalformed, m, m.Node, ErrReaderWrote)
		}
		if err := m.checkContents(h.o.Limit); err != nil {
			return fmt.Errorf("%w: %v of node %d: %w", ErrMalformed, m, m.Node, err)
		}
		h.commit(p, m)
	}
	if why := h.refusal(p, m.Mode); renew && why != 0 {
		h.refuse(p, m.ID, why)
		renew = false
	}
	if p.count == 1 {
		h.setAlone(p, false) // it was the only one
	}
	if !renew {
		h.forget(at)
		h.line.Release(ticketID(at))
		return nil
	}
	next := h.issue(p, m)
	h.forget(at)
	h.line.Renew(ticketID(at), ticketID(next), m.Mode)
	return nil
}

// abandoned ends the access of a holder that has failed while its node is alive.
func (h *Home) abandoned(p *peer, m *Message, at int) error {
	if m.Kind == RenewMessage {
		return fmt.Errorf("%w: %v of node %d: a holder that has failed cannot renew: release instead", ErrMalformed, m, m.Node)
	}
	mode := h.tickets[at].mode
	h.ledger.Lose(mode)
	if mode == Write {
		p.known = 0
	}
	if h.ledger.Aborted() {
		h.abort(nil)
		return nil
	}
	h.forget(at)
	h.line.Release(ticketID(at))
	return nil
}

// commit makes what a mirror has written the resource's bytes.
func (h *Home) commit(p *peer, m *Message) {
	if s, ok := h.memory.(swapper); !ok || !s.swap(m) {
		h.overwrite(m)
	}
	p.known = h.ledger.Commit() + 1
	if n, ok := h.memory.(interface{ noted(m *Message) }); ok {
		n.noted(m)
	}
}

// swapper is memory that can exchange its bytes with a message's bytes.
type swapper interface{ swap(m *Message) bool }

// overwrite copies what a mirror has written.
func (h *Home) overwrite(m *Message) {
	if o, ok := h.memory.(interface{ own() }); ok {
		o.own()
	}
	if len(h.memory.Bytes()) != m.Size {
		h.memory.Resize(m.Size)
	}
	to, from := h.memory.Bytes(), m.Bytes
	if m.Whole {
		copy(to, from)
		return
	}
	for _, s := range m.Spans {
		copy(to[s.Off:][:s.Len], from)
		from = from[s.Len:]
	}
}

// cancel takes a mirror's request back if it is not granted yet.
func (h *Home) cancel(p *peer, m *Message) error {
	at, queued := h.find(p, m.ID)
	if !queued {
		if h.over != 0 || h.o.Allow != nil {
			return nil // a refusal is under way, or may be
		}
		return fmt.Errorf("%w: %v of node %d: %w", ErrMalformed, m, m.Node, ErrNotQueued)
	}
	if !h.line.Cancel(ticketID(at)) {
		return nil // the grant is under way, or about to be; the mirror releases it
	}
	h.forget(at)
	h.refuse(p, m.ID, Cancelled)
	return nil
}

// issue makes a ticket for a mirror's request.
func (h *Home) issue(p *peer, m *Message) int {
	at := h.free
	if at == noTicket {
		at = len(h.tickets)
		h.tickets = append(h.tickets, ticket{})
	} else {
		h.free = h.tickets[at].next
	}
	h.tickets[at] = ticket{peer: p, id: m.ID, state: ticketWaits, mode: m.Mode, prev: p.last, next: noTicket}
	if p.last == noTicket {
		p.first = at
	} else {
		h.tickets[p.last].next = at
	}
	p.last = at
	if p.count++; p.index != nil {
		p.index[m.ID] = at
	}
	return at
}

// find is the ticket of a mirror's request. Most mirrors have few requests; a mirror
// with many gets an index of them.
func (h *Home) find(p *peer, id ID) (at int, queued bool) {
	const few = 16
	if p.index == nil && p.count > few {
		p.index = make(map[ID]int, 2*few)
		for at := p.first; at != noTicket; at = h.tickets[at].next {
			p.index[h.tickets[at].id] = at
		}
	}
	if p.index != nil {
		at, queued = p.index[id]
		return at, queued
	}
	for at := p.first; at != noTicket; at = h.tickets[at].next {
		if h.tickets[at].id == id {
			return at, true
		}
	}
	return noTicket, false
}

// unlink takes a ticket out of the list of its mirror.
func (h *Home) unlink(at int) {
	t := &h.tickets[at]
	p := t.peer
	if p.count--; p.count == 0 {
		p.index = nil
	} else {
		delete(p.index, t.id)
	}
	if t.prev == noTicket {
		p.first = t.next
	} else {
		h.tickets[t.prev].next = t.next
	}
	if t.next == noTicket {
		p.last = t.prev
	} else {
		h.tickets[t.next].prev = t.prev
	}
}

// forget makes a ticket free.
func (h *Home) forget(at int) {
	if s := h.tickets[at].state; s != ticketOrphaned && s != ticketUnwanted {
		h.unlink(at)
	}
	if h.next == at {
		h.next = noTicket
	}
	h.tickets[at] = ticket{state: ticketFree, next: h.free}
	h.free = at
}
