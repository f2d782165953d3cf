package coherence

import (
	"fmt"

	"github.com/orwl/go-orwl/internal/invariant"
)

// guest is a mirror's request in the home's queue.
//
//	(free) ─request─▶ waiting ────────────Granted────────────▶ told ─release─▶ (free)
//	                   │   │                                    │
//	                   │   └─ cancel: Withdrawn, or Granted     └─ the mirror is lost ─▶ (free)
//	                   └─ the mirror is lost ─▶ orphaned ─ Withdrawn, or Granted ─▶ (free)
type guest struct {
	peer  *peer
	id    ID // the mirror's
	state guestState
	mode  Mode
	fence uint64 // once told
	at    uint64 // its number among all guests so far
	next  int    // of the free guests
}

// guestState is how far a guest has come.
type guestState uint8

const (
	unused   guestState = iota
	waiting             // in the queue
	told                // the mirror has, or will get, the grant
	orphaned            // the mirror is lost, and the queue has been asked to take the guest back
)

// mostQueued bounds the requests of one node in a resource's queue, so that a hostile
// node cannot use up memory.
const mostQueued = 1 << 18

// none stands for no guest.
const none = -1

// request queues a mirror's request.
func (h *Home) request(p *peer, m *Message, w *Work) error {
	if _, queued := p.guests.find(m.ID); queued != nil {
		return fmt.Errorf("%w: %v of node %d: %w", ErrMalformed, m, m.Node, ErrQueued)
	}
	if m.Mode > Write {
		return fmt.Errorf("%w: %v of node %d: no such mode", ErrMalformed, m, m.Node)
	}
	if len(p.guests.all) >= mostQueued {
		return fmt.Errorf("%w: %v of node %d, which has %d in the queue", ErrMalformed, m, m.Node, len(p.guests.all))
	}
	first, err := h.reservation(m)
	if err != nil {
		return err
	}
	if p.got == 0 {
		p.known = m.Known
	}
	if why := h.refusal(p, m.Mode); why != 0 {
		h.refuse(p, m.ID, why, w)
		if first != nil {
			invariant.Sometimes(true, "a first request is refused, and its reservation forgone")
			w.Queue = append(w.Queue, Operation{Kind: Forgo, Mode: m.Mode, Ticket: first.Ticket})
		}
		return nil
	}
	o := Operation{Kind: Enqueue, Guest: h.issue(p, m), Mode: m.Mode}
	if first != nil {
		o.Kind, o.Ticket = EnqueueReserved, first.Ticket
	}
	w.Queue = append(w.Queue, o)
	return nil
}

// reservation uses up the reservation of a first request, or returns nil. A node that comes
// back begins its program again: its reservations are used, and it queues behind the others.
func (h *Home) reservation(m *Message) (*Reservation, error) {
	most := uint64(h.spent + len(h.reserved))
	if m.Order > most {
		return nil, fmt.Errorf("%w: %v of node %d: there are %d reservations", ErrMalformed, m, m.Node, most)
	}
	r := h.numbered(int(m.Order))
	switch {
	case r == nil: // it has no Order, or a forgotten one
		return nil, nil
	case r.Node != m.Node || r.Mode != m.Mode:
		return nil, fmt.Errorf("%w: %v of node %d: this is reserved for node %d to %v", ErrMalformed, m, m.Node, r.Node, r.Mode)
	case r.Used:
		invariant.Sometimes(true, "a first request comes after its reservation is used")
		return nil, nil
	}
	r.Used = true
	return r, nil
}

// Use is the ticket of a first request of the home's own node, or false if there is none
// for it.
func (h *Home) Use(order int, m Mode) (ticket uint64, reserved bool) {
	r := h.numbered(order)
	if r == nil || r.Used || r.Mode != m {
		return 0, false
	}
	r.Used = true
	return r.Ticket, true
}

// Reserve adds reservations behind those that the home has, and returns the Order of the
// first of them. It forgets the oldest ones that are used.
func (h *Home) Reserve(more []Reservation) (order int) {
	used := 0
	for used < len(h.reserved) && h.reserved[used].Used {
		used++
	}
	h.spent += used
	h.reserved = append(h.reserved[used:len(h.reserved):len(h.reserved)], more...)
	return h.spent + len(h.reserved) - len(more) + 1
}

// Forgo gives up those of n reservations, from an Order on, that are not used.
func (h *Home) Forgo(order, n int, w *Work) {
	for i := range n {
		if r := h.numbered(order + i); r != nil {
			r.forgo(w)
		}
	}
}

// forgo gives up a reservation, unless it is used.
func (r *Reservation) forgo(w *Work) {
	if !r.Used {
		r.Used = true
		w.Queue = append(w.Queue, Operation{Kind: Forgo, Mode: r.Mode, Ticket: r.Ticket})
	}
}

// numbered is the reservation of an Order, or nil if there is none.
func (h *Home) numbered(order int) *Reservation {
	if at := order - h.spent - 1; at >= 0 && at < len(h.reserved) {
		return &h.reserved[at]
	}
	return nil
}

// Reserved are the reservations.
func (h *Home) Reserved() []Reservation { return h.reserved }

// refusal is why a node may not request, or 0.
func (h *Home) refusal(p *peer, m Mode) Reason {
	switch {
	case h.over != 0:
		return h.over
	case h.o.Permit != nil && !h.o.Permit.allows(p.node, m):
		return Forbidden
	}
	return 0
}

// release ends a mirror's access, and requests the next one of a pair.
func (h *Home) release(p *peer, m *Message, w *Work) error {
	id, renew := m.ID, m.Kind == RenewMessage
	if renew {
		id = m.Old
	}
	_, found := p.guests.find(id)
	if found == nil || h.guests[*found].state != told || h.guests[*found].fence != m.Fence {
		h.refuse(p, m.ID, Stale, w)
		return nil
	}
	at := *found
	if _, queued := p.guests.find(m.ID); renew && (queued != nil || m.Mode > Write) {
		return fmt.Errorf("%w: %v of node %d: queued already, or no such mode", ErrMalformed, m, m.Node)
	}
	if m.Reason == Abandoned {
		return h.abandoned(p, m, at, w)
	}
	if m.Wrote {
		if err := h.commit(p, m, h.guests[at].mode, w); err != nil {
			return err
		}
	}
	if why := h.refusal(p, m.Mode); renew && why != 0 {
		h.refuse(p, m.ID, why, w)
		renew = false
	}
	if len(p.guests.all) == 1 {
		h.setRetention(p, noRetention) // that was the release
	}
	if !renew {
		h.forget(at)
		w.Queue = append(w.Queue, Operation{Kind: Release, Guest: at})
		return nil
	}
	next := h.issue(p, m)
	h.forget(at)
	w.Queue = append(w.Queue, Operation{Kind: Renew, Guest: at, Next: next, Mode: m.Mode})
	return nil
}

// commit makes what a mirror has written the resource's bytes.
func (h *Home) commit(p *peer, m *Message, mode Mode, w *Work) error {
	if mode == Read {
		return fmt.Errorf("%w: %v of node %d: %w", ErrMalformed, m, m.Node, ErrReaderWrote)
	}
	if err := m.checkContents(h.o.Limit); err != nil {
		return fmt.Errorf("%w: %v of node %d: %w", ErrMalformed, m, m.Node, err)
	}
	before := len(h.buffer.Bytes())
	if err := h.buffer.take(m); err != nil {
		w.Fault = err
	}
	p.known = h.ledger.Commit() + 1
	if !m.Whole && m.Size == before {
		h.ledger.Changed(m.Spans, m.Size)
	}
	return nil
}

// abandoned ends the access of a holder that has failed while its node is alive.
func (h *Home) abandoned(p *peer, m *Message, at int, w *Work) error {
	if m.Kind == RenewMessage {
		return fmt.Errorf("%w: %v of node %d: a holder that has failed cannot renew: release instead", ErrMalformed, m, m.Node)
	}
	mode := h.guests[at].mode
	h.ledger.Lose(mode)
	if mode == Write {
		p.known = 0
	}
	if h.ledger.Aborted() {
		h.abort(nil, w)
		return nil
	}
	h.forget(at)
	w.Queue = append(w.Queue, Operation{Kind: Release, Guest: at})
	return nil
}

// cancel asks the queue to take a mirror's request back, if it is not granted yet.
func (h *Home) cancel(p *peer, m *Message, w *Work) error {
	_, at := p.guests.find(m.ID)
	switch {
	case at == nil && h.over == 0 && h.o.Permit == nil:
		return fmt.Errorf("%w: %v of node %d: %w", ErrMalformed, m, m.Node, ErrNotQueued)
	case at == nil: // a refusal is under way
		invariant.Sometimes(true, "a cancel crosses a refusal")
	case h.guests[*at].state == waiting:
		w.Queue = append(w.Queue, Operation{Kind: Cancel, Guest: *at})
	}
	return nil // the grant may be under way: then the mirror releases it
}

// Withdrawn says that the queue has taken a guest back.
func (h *Home) Withdrawn(at int, w *Work) {
	if g := &h.guests[at]; g.state == waiting {
		h.refuse(g.peer, g.id, Cancelled, w)
	}
	h.forget(at)
}

// issue makes a guest for a mirror's request.
func (h *Home) issue(p *peer, m *Message) int {
	at := h.free
	if at == none {
		at = len(h.guests)
		h.guests = append(h.guests, guest{})
	} else {
		h.free = h.guests[at].next
	}
	h.arrived++
	h.guests[at] = guest{peer: p, id: m.ID, state: waiting, mode: m.Mode, at: h.arrived}
	p.guests.add(m.ID, at)
	return at
}

// forget makes a guest free.
func (h *Home) forget(at int) {
	if g := &h.guests[at]; g.state != orphaned {
		g.peer.guests.remove(g.id)
	}
	h.guests[at] = guest{next: h.free}
	h.free = at
}

// Waits reports whether a guest waits for its grant.
func (h *Home) Waits(at int) bool { return at < len(h.guests) && h.guests[at].state == waiting }

// Guest is the node and the mode of a guest.
func (h *Home) Guest(at int) (Node, Mode) { return h.guests[at].peer.node, h.guests[at].mode }
