package resource

import (
	"fmt"

	"github.com/orwl/go-orwl/resource/internal/coherence"
)

// First requests have tickets before they come: the home of a resource reserves them, in an
// order that all nodes know.
//
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
