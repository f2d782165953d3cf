package resource

import "github.com/orwl/go-orwl/resource/internal/coherence"

// The operations of a home's half in the queue of its resource. The home's mutex is held.

// do does the work of a step.
func (h *home) do(s *scratch) {
	for i := 0; i < len(s.work.Queue); i++ { // some operations add messages
		h.operate(s.work.Queue[i], &s.work)
	}
	for i := range s.work.Messages {
		m := &s.work.Messages[i]
		if m.Kind == coherence.RefusedMessage && m.Reason == coherence.Stale {
			h.site.counts.fenced.Add(1)
		}
		h.site.send(m.Node, m, h.r, s)
	}
	fault := s.work.Fault
	s.work.Reset()
	if fault != nil {
		h.r.Break(fault)
	}
}

func (h *home) operate(o coherence.Operation, w *coherence.Work) {
	switch o.Kind {
	case coherence.Enqueue:
		h.enqueue(h.site.guest(h), o.Guest, o.Mode, h.r.request(unit(o.Mode)))
	case coherence.EnqueueReserved:
		h.enqueue(h.site.guest(h), o.Guest, o.Mode, o.Ticket)
	case coherence.Renew:
		g := h.guests[o.Guest]
		h.guests[o.Guest] = nil
		ticket := h.r.request(unit(o.Mode))
		h.r.end(g.state.Load(), nil)
		h.enqueue(g, o.Next, o.Mode, ticket)
	case coherence.Release:
		g := h.guests[o.Guest]
		h.guests[o.Guest] = nil
		h.r.end(g.state.Load(), nil)
		h.site.leave(g)
	case coherence.Cancel:
		g := h.guests[o.Guest]
		if !g.w.giveUp() {
			return // its hook was called, or is about to be
		}
		h.guests[o.Guest] = nil
		g.haunt()
		h.site.leave(g)
		h.half.Withdrawn(o.Guest, w)
	case coherence.Forgo:
		h.forgo(o.Ticket, o.Mode)
	case coherence.Break:
		clear(h.guests)
		h.r.Break(ErrAborted)
	}
}

// enqueue makes g the guest of a request with a ticket, and asks for the news of its grant.
func (h *home) enqueue(g *guest, number int, m Mode, ticket uint64) {
	for len(h.guests) <= number {
		h.guests = append(h.guests, nil)
	}
	h.guests[number], g.number = g, number
	if m == Write {
		h.writers = append(h.writers, number)
	}
	g.state.Set(ticket | modeBit(m) | requestedBit)
	g.list(g.state.Load(), &g.hook)
}

// reserve takes the tickets of first requests, in their order. It returns the number of the
// first of them.
func (h *home) reserve(first []First) (order int) {
	more := make([]coherence.Reservation, len(first))
	for i, f := range first {
		more[i] = coherence.Reservation{Node: f.Node, Mode: f.Mode, Ticket: h.r.request(unit(f.Mode))}
	}
	return h.half.Reserve(more)
}

// claim is the reserved ticket of a request of this node, or false if there is none for it.
func (h *home) claim(m Mode, order int) (ticket uint64, reserved bool) {
	h.mu.Lock()
	defer h.unlock()
	return h.half.Use(order, m)
}

// forgo gives up a ticket whose request will not come: it becomes a ghost.
func (h *home) forgo(ticket uint64, m Mode) {
	g := h.site.guest(h)
	g.withdraw(ticket | modeBit(m) | requestedBit)
	h.site.leave(g)
}

// guest is an idle guest of a home.
func (s *Site) guest(h *home) *guest {
	g, ok := s.guests.Get().(*guest)
	if !ok {
		g = new(guest)
		g.hook.Granted = g.granted
	}
	g.home, g.r = h, h.r
	return g
}

// leave takes a guest back, which is idle.
func (s *Site) leave(g *guest) {
	g.home = nil
	g.forget()
	g.state.Set(0)
	s.guests.Put(g)
}
