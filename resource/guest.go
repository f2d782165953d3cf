package resource

import (
	"context"
	"fmt"

	"github.com/orwl/go-orwl/resource/internal/coherence"
)

// The operations of a home's half in the queue of its resource. The home's mutex is held.

// guest is the place of a mirror's request in the queue of the home. First requests of the
// program have reserved tickets, further down.
type guest struct {
	Place
	home   *home
	number int
	next   *guest // in the news
	hook   Hook
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

// granted notes the news: it is the hook of the guest.
func (g *guest) granted(any) {
	h := g.home
	for {
		g.next = h.news.Load()
		if h.news.CompareAndSwap(g.next, g) {
			return
		}
	}
}

// hold makes a granted guest one that holds, as Acquire does, and reports whether it does
// now. If there is a guard, it waits there for a relaxed access to end, which waits for no
// grant. A lock of several nodes may need their messages for that, which this goroutine
// delivers. So another goroutine waits, and the guest is news again once it holds.
func (g *guest) hold() bool {
	s := g.state.Load()
	g.listed = false
	switch {
	case s&heldBit != 0:
		return true // it is news again
	case g.r.completed.Load()&guarded == 0:
		g.state.Set(s ^ phaseBits)
		return true
	case g.r.published() == nil:
		return g.holdInside(s)
	case g.enterAtOnce(s):
		g.state.Set((s | doorBit) ^ phaseBits)
		return true
	}
	g.r.guard.Load().locks.Reach.Aside(func() {
		if h := g.home; g.holdInside(s) {
			g.granted(nil)
			h.poke()
		}
	})
	return false
}

// holdInside makes the guest one that holds in the guard. It fails if the resource is broken.
func (g *guest) holdInside(s uint64) bool {
	if g.enter(context.Background(), s, false) != nil {
		return false
	}
	g.state.Set((s | doorBit) ^ phaseBits)
	return true
}

// leave takes a guest back, which is idle.
func (s *Site) leave(g *guest) {
	g.home = nil
	g.forget()
	g.state.Set(0)
	s.guests.Put(g)
}

// A part of a program may begin while other parts run. All nodes agree on it, its homes
// reserve tickets, all nodes learn that they have, and only then a node makes the first
// request of the part.

// Reserve makes the home of a resource, which is here, reserve tickets for first requests,
// behind all that is queued. HomeAt.First does so for the start of the program. It returns the
// number of the first of them, for [Place.RequestOrdered]; the others follow. No node makes
// such a request before Reserve has returned.
func (s *Site) Reserve(r *Resource, first []First) (order int, err error) {
	h, err := s.homeOf(r, "Reserve")
	if err != nil {
		return 0, err
	}
	if err := checkFirst("first", first); err != nil {
		return 0, err
	}
	h.mu.Lock()
	defer h.unlock()
	return h.reserve(first), nil
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

// Forgo gives up reservations that no request has used, among n from number order on.
// The requests behind them go on. No node makes such a request any more.
func (s *Site) Forgo(r *Resource, order, n int) error {
	h, err := s.homeOf(r, "Forgo")
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.unlock()
	c := s.scratch()
	defer s.spare(c)
	h.half.Forgo(order, n, &c.work)
	h.do(c)
	return nil
}

// forgo gives up a ticket whose request will not come: it becomes a ghost.
func (h *home) forgo(ticket uint64, m Mode) {
	g := h.site.guest(h)
	g.withdraw(ticket | modeBit(m) | requestedBit)
	h.site.leave(g)
}

// Forget breaks a resource whose home is here, and takes it out of the site. Another one of
// its name may be declared. No other node has requested it.
func (s *Site) Forget(r *Resource, why error) error {
	if _, err := s.homeOf(r, "Forget"); err != nil {
		return err
	}
	r.Break(why)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.homes, numberOf(r.name))
	return nil
}

// homeOf is the home of a resource that has it here.
func (s *Site) homeOf(r *Resource, op string) (*home, error) {
	if r.home == nil || r.home.site != s {
		return nil, fmt.Errorf("resource: %s of %q: its home is not here", op, r.name)
	}
	return r.home, nil
}
