package resource

import "slices"

// The queue of a resource as the line of its home. All of this is called with the
// mutex of homed held.

// at is the place of a mirror's request, or nil.
func (h *homed) at(id ID) *guestPlace {
	if at := int(id &^ fromMirrors); at < len(h.places) {
		return h.places[at]
	}
	return nil
}

// put makes g the place of a request.
func (h *homed) put(id ID, g *guestPlace) {
	at := int(id &^ fromMirrors)
	for len(h.places) <= at {
		h.places = append(h.places, nil)
	}
	h.places[at] = g
	g.id = id
}

// Request queues a mirror's request up, or keeps it until all first requests are
// here.
func (h *homed) Request(id ID, m Mode) {
	if h.gather != nil {
		h.gather.requests = append(h.gather.requests, first{order: h.order, id: id, mode: m})
		if h.order != 0 {
			h.order = 0
			h.came()
		}
		return
	}
	h.order = 0
	h.enqueue(id, m)
}

func (h *homed) enqueue(id ID, m Mode) { h.await(h.line(id, m), m) }

// line is the place of a mirror's request, in the queue. Whoever grants it does not
// find it before await.
func (h *homed) line(id ID, m Mode) *guestPlace {
	g := h.site.guest()
	g.home = h
	h.put(id, g)
	g.r = h.r
	g.state.Set(h.r.request(m) | modeBit(m) | requestedBit)
	return g
}

// await has the news of its grant noted.
func (h *homed) await(g *guestPlace, m Mode) {
	if m == Write {
		h.writers = append(h.writers, g.id)
	}
	g.Notify(g.hook)
}

// Renew is the step of a pair.
func (h *homed) Renew(id, next ID, m Mode) {
	g := h.at(id)
	h.places[int(id&^fromMirrors)] = nil
	h.put(next, g)
	s := g.state.Load()
	g.state.Set(h.r.request(m) | modeBit(m) | requestedBit)
	if s&heldBit != 0 {
		h.r.end(s, nil)
	} else {
		g.drop(s)
	}
	h.await(g, m)
}

// Release ends an access.
func (h *homed) Release(id ID) {
	g := h.at(id)
	if g == nil {
		return
	}
	h.places[int(id&^fromMirrors)] = nil
	if s := g.state.Load(); s&heldBit != 0 {
		g.state.Set(s & writeBit)
		h.r.end(s, nil)
	} else {
		g.withdraw(s)
	}
	h.site.leave(g)
}

// Cancel takes a request back, unless its hook was called, or is about to be.
func (h *homed) Cancel(id ID) bool {
	if h.gather != nil {
		h.gather.requests = slices.DeleteFunc(h.gather.requests, func(f first) bool { return f.place == nil && f.id == id })
		return true
	}
	g := h.at(id)
	if g == nil || !g.w.state.CompareAndSwap(listed|hooked, ghost|hooked) {
		return false
	}
	h.places[int(id&^fromMirrors)] = nil
	g.state.Set(g.state.Load() & writeBit)
	g.haunt()
	h.site.leave(g)
	return true
}

// Alone reports whether nobody has requested after a mirror, nor between this request of
// it and the one before. Whoever does so now, and waits, calls wanted: one of the two
// sees the other. The relaxed door has an order of its own.
func (h *homed) Alone(id ID) bool {
	g, node := h.at(id), h.home.guest(id)
	if g == nil {
		return false
	}
	s := g.state.Load()
	ticket := s &^ flags
	again := h.last == node && h.next == ticket
	h.last, h.next = node, ticket+unit(modeOf(s))
	if !again {
		return false
	}
	h.lone.Store(true)
	return h.r.load(&h.r.requested)&^flags == h.next && h.r.guard.Load() == nil
}

// Abort breaks the resource, since a writer was lost.
func (h *homed) Abort() {
	clear(h.places)
	h.r.Break(ErrAborted)
}

// swap may take what a mirror has written as it is.
func (h *homed) swap(m *Message) bool { return h.r.swap(m) }

// own is called before a mirror's write.
func (h *homed) own() { h.r.own() }

// Bytes are the resource's.
func (h *homed) Bytes() []byte { return h.r.bytes }

// Resize changes their size.
func (h *homed) Resize(n int) {
	if err := h.r.resize(n); err != nil {
		h.r.Break(err)
	}
}

// noted notes what a mirror has written, for readers that ask what has changed.
func (h *homed) noted(m *Message) {
	r := h.r
	if m.Whole && r.changes == nil {
		return
	}
	if r.changes == nil {
		r.changes = new(changes)
	}
	var x extras
	if !m.Whole {
		x.dirty = new(Ranges)
		for _, s := range m.Spans {
			_ = x.dirty.Add(s, m.Size)
		}
	}
	r.changes.note(r.ledger.version.Own(), &x, m.Size)
}
