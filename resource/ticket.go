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
	// Its neighbours among its mirror's, in the order of their requests; next links
	// the free ones too.
	prev, next int
}

// ticketState is how far a ticket has come.
type ticketState uint8

const (
	ticketFree ticketState = iota
	ticketWaits
	ticketGranted  // by the line
	ticketTold     // to the mirror
	ticketOrphaned // granted by the line, which is about to say so to nobody
	ticketUnwanted // as it has said now
)

// noTicket is none.
const noTicket = -1

// ticketID is a ticket's ID in the line.
func ticketID(at int) ID { return ID(at) | fromMirrors }

// request queues a mirror's request up.
func (h *Home) request(p *peer, m *Message) error {
	if _, queued := p.tickets[m.ID]; queued {
		return fmt.Errorf("%w: %v of node %d: %w", ErrMalformed, m, m.Node, ErrQueued)
	}
	if m.Mode > Write {
		return fmt.Errorf("%w: %v of node %d: no such mode", ErrMalformed, m, m.Node)
	}
	if p.got == 0 {
		p.known = m.Known
	}
	if h.ledger.Aborted() {
		h.refuse(p, m.ID, Aborted)
		return nil
	}
	h.line.Request(ticketID(h.issue(p, m)), m.Mode)
	return nil
}

// release ends a mirror's access, and requests the next one of a pair.
func (h *Home) release(p *peer, m *Message) error {
	id, renew := m.ID, m.Kind == RenewMessage
	if renew {
		id = m.Old
	}
	at, queued := p.tickets[id]
	if !queued || h.tickets[at].state != ticketTold || h.tickets[at].fence != m.Fence {
		h.refuse(p, m.ID, Stale)
		return nil
	}
	if renew {
		if _, queued := p.tickets[m.ID]; queued || m.Mode > Write {
			return fmt.Errorf("%w: %v of node %d: queued already, or no such mode", ErrMalformed, m, m.Node)
		}
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

// commit makes what a mirror has written the resource's bytes.
func (h *Home) commit(p *peer, m *Message) {
	if len(h.memory.Bytes()) != m.Size {
		h.memory.Resize(m.Size)
	}
	to, from := h.memory.Bytes(), m.Bytes
	if m.Whole {
		copy(to, from)
	} else {
		for _, s := range m.Spans {
			copy(to[s.Off:][:s.Len], from)
			from = from[s.Len:]
		}
	}
	p.known = h.ledger.Commit() + 1
}

// cancel takes a mirror's request back, if it is not too late.
func (h *Home) cancel(p *peer, m *Message) error {
	at, queued := p.tickets[m.ID]
	if !queued {
		if h.ledger.Aborted() {
			return nil // the refusal is under way
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
	p.tickets[m.ID] = at
	return at
}

// unlink takes a ticket away from its mirror.
func (h *Home) unlink(at int) {
	t := &h.tickets[at]
	p := t.peer
	delete(p.tickets, t.id)
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
