package coherence

import "fmt"

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
	if p.got == 0 {
		p.known = m.Known
	}
	w.Queue = append(w.Queue, Operation{Kind: Enqueue, Guest: h.issue(p, m), Mode: m.Mode})
	return nil
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
	if err := h.buffer.take(m); err != nil {
		w.Fault = err
	}
	p.known = h.ledger.Commit() + 1
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
	h.forget(at)
	w.Queue = append(w.Queue, Operation{Kind: Release, Guest: at})
	return nil
}

// cancel asks the queue to take a mirror's request back, if it is not granted yet.
func (h *Home) cancel(p *peer, m *Message, w *Work) error {
	_, at := p.guests.find(m.ID)
	switch {
	case at == nil:
		return fmt.Errorf("%w: %v of node %d: %w", ErrMalformed, m, m.Node, ErrNotQueued)
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

// Guest is the node and the mode of a guest.
func (h *Home) Guest(at int) (Node, Mode) { return h.guests[at].peer.node, h.guests[at].mode }
