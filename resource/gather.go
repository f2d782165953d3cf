package resource

import (
	"cmp"
	"slices"
)

// gathering is the state of a home that waits for the first requests of all nodes, to
// queue them in the order in which the program starts. It queues all other requests
// behind them.
type gathering struct {
	expect   int // first requests that have not come yet
	requests []first
}

// first is a request that is kept: one of a mirror, or of a place here.
type first struct {
	order uint64
	mode  Mode
	id    ID
	place *Place
	w     *waiter
}

// keep keeps the request of a place of this node. It reports false if the request can
// queue now.
func (h *homed) keep(p *Place, m Mode, order uint64) bool {
	h.mu.Lock()
	defer h.unlock()
	if h.gather == nil {
		return false
	}
	p.early = true
	// It has the ticket of a request far behind, so it looks ungranted.
	p.state.Set((h.r.completed.Load()+1<<26*oneWriter)&^flags | modeBit(m) | requestedBit)
	h.gather.requests = append(h.gather.requests, first{order: order, mode: m, place: p, w: p.listApart(m, listed)})
	if order != 0 {
		h.came()
	}
	return true
}

// forget takes back the request of a place of this node. It reports false if the
// request has queued: then the place's waiter knows its ticket.
func (h *homed) forget(p *Place) bool {
	h.mu.Lock()
	defer h.unlock()
	if h.gather == nil {
		return false
	}
	p.early = false
	h.gather.requests = slices.DeleteFunc(h.gather.requests, func(f first) bool { return f.place == p })
	p.listed = false
	p.w.calm()
	return true
}

// came counts a first request, even one that was cancelled or refused meanwhile.
func (h *homed) came() {
	if g := h.gather; g != nil {
		if g.expect--; g.expect <= 0 {
			h.start()
		}
	}
}

// start queues all requests that were kept, and then grants. If it granted earlier, a
// granted task could request again ahead of requests that have not queued yet.
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
