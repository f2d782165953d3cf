package resource

import (
	"cmp"
	"slices"
)

// gathering is a home that waits for the first requests of all nodes, to queue them
// up in the order in which the program starts. Requests that are no first ones queue
// up behind.
type gathering struct {
	expect   int // so many more
	requests []first
}

// first is a request that is kept: a mirror's, or that of a place here.
type first struct {
	order uint64
	mode  Mode
	id    ID
	place *Place
	w     *waiter
}

// keep keeps the request of a place of this node, and reports false if it can queue
// up now.
func (h *homed) keep(p *Place, m Mode, order uint64) bool {
	h.mu.Lock()
	defer h.unlock()
	if h.gather == nil {
		return false
	}
	p.early = true
	// It looks like somebody far behind.
	p.set((h.r.completed.Load()+1<<26*oneWriter)&^flags | modeBit(m) | requestedBit)
	h.gather.requests = append(h.gather.requests, first{order: order, mode: m, place: p, w: p.listApart(m, listed)})
	if order != 0 {
		h.came()
	}
	return true
}

// forget takes the request of a place of this node back, and reports false if it is
// queued up: then the place's waiter knows its ticket.
func (h *homed) forget(p *Place) bool {
	h.mu.Lock()
	defer h.unlock()
	if h.gather == nil {
		return false
	}
	p.early = false
	h.gather.requests = slices.DeleteFunc(h.gather.requests, func(f first) bool { return f.place == p })
	p.listed = false
	p.w.alarm.Off()
	return true
}

// came counts a first request, also one that was taken back or refused since.
func (h *homed) came() {
	if g := h.gather; g != nil {
		if g.expect--; g.expect <= 0 {
			h.start()
		}
	}
}

// start queues up what was kept: all of it before anybody is granted, who might
// request again before those who are still to queue up.
func (h *homed) start() {
	g := h.gather
	if g == nil {
		return
	}
	h.gather = nil
	slices.SortStableFunc(g.requests, func(a, b first) int {
		return cmp.Compare(a.order-1, b.order-1) // 0 comes last
	})
	if h.home.over != 0 {
		g.requests = slices.DeleteFunc(g.requests, func(f first) bool { return f.place == nil })
	}
	guests := make([]*guestPlace, len(g.requests))
	for i, f := range g.requests {
		if f.place == nil {
			guests[i] = h.line(f.id, f.mode)
			continue
		}
		t := h.r.request(f.mode)
		f.w.ticket, f.w.stray = t&^flags, 0
		if t&guarded == 0 {
			f.w.stray = 1
		}
	}
	h.r.requested.And(^uint64(apart))
	for i, f := range g.requests {
		if f.place == nil {
			h.await(guests[i], f.mode)
			continue
		}
		h.r.list(f.w)
		if c := h.r.load(&h.r.completed); c&broken != 0 || due(c, f.w.ticket, f.mode) {
			h.r.settle(f.w.ticket, c, nil)
		}
	}
}
