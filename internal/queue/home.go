package queue

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/orwl/go-orwl/internal/queue/coherence"
)

// home joins the home's half of the protocol to the queue of the resource. A mirror's
// request is a guest: a place in the queue as any other, except that no goroutine sleeps
// there.
//
//	mirror ═════ take ──▶ half ─ operations ─▶ queue
//	mirror ◀══ messages ─ half ◀─── news ───── queue
//
// # Who tells the mirrors
//
// A guest's hook runs inside of the step that grants it, which may be a Release by any
// goroutine of this node, in the middle of the queue. So the hook only notes the news. When
// the queue's step is done, its goroutine looks for news. It takes the mutex if that is
// free, and tells the mirrors (poke). The owner of the mutex looks for news before it
// unlocks, and once more afterwards (unlock). So a goroutine that is here anyway tells the
// news, and no goroutine waits for it or is kept for it.
type home struct {
	site *Site
	r    *Resource
	news atomic.Pointer[guest]
	over atomic.Bool // the resource is broken, and every mirror knows

	mu     sync.Mutex
	half   coherence.Home
	turns  coherence.Turns
	guests []*guest // by the half's number, nil where there is none
}

// guest is the place of a mirror's request in the queue of the home.
type guest struct {
	Place
	home   *home
	number int
	next   *guest // in the news
	hook   func() // granted
}

// take takes a message from a mirror, and those that came early and follow it. The mutex is
// held.
func (h *home) take(m *coherence.Message, s *scratch) error {
	return h.turns.Take(m, m.Node, h.site.budget, func(m *coherence.Message) error {
		err := h.half.Step(m, &s.work)
		h.do(s)
		return err
	})
}

// do does the work of a step. The mutex is held.
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
	case coherence.Renew:
		g := h.guests[o.Guest]
		h.guests[o.Guest] = nil
		ticket := h.r.request(unit(o.Mode))
		h.r.end(g.state.Load())
		h.enqueue(g, o.Next, o.Mode, ticket)
	case coherence.Release:
		g := h.guests[o.Guest]
		h.guests[o.Guest] = nil
		h.r.end(g.state.Load())
		h.site.leave(g)
	case coherence.Cancel:
		g := h.guests[o.Guest]
		if !g.w.giveUp() {
			return // its hook was called, or is about to be
		}
		h.guests[o.Guest] = nil
		g.leaveGhost()
		h.site.leave(g)
		h.half.Withdrawn(o.Guest, w)
	}
}

// enqueue makes g the guest of a request with a ticket, and asks for the news of its grant.
func (h *home) enqueue(g *guest, number int, m Mode, ticket uint64) {
	for len(h.guests) <= number {
		h.guests = append(h.guests, nil)
	}
	h.guests[number], g.number = g, number
	g.state.Set(ticket | modeBit(m) | requestedBit)
	g.list(g.state.Load(), &g.hook)
}

// guest is an idle guest of a home.
func (s *Site) guest(h *home) *guest {
	g, ok := s.guests.Get().(*guest)
	if !ok {
		g = new(guest)
		g.hook = g.granted
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

// granted notes the news: it is the hook of the guest.
func (g *guest) granted() {
	h := g.home
	for {
		g.next = h.news.Load()
		if h.news.CompareAndSwap(g.next, g) {
			return
		}
	}
}

// hold makes a granted guest one that holds, as Acquire does, and reports whether it does now: it fails if the resource is
// broken. If there is a guard, it waits there for a relaxed access to end, which waits for no grant.
func (g *guest) hold() bool {
	s := g.state.Load()
	g.listed = false
	if g.r.completed.Load()&guarded != 0 {
		if g.enter(context.Background(), s, false) != nil {
			return false
		}
		s |= guardedBit
	}
	g.state.Set(s ^ phaseBits)
	return true
}

// lost takes a node out of the queue that is lost, or is back.
func (h *home) lost(n Node, back bool) {
	h.mu.Lock()
	defer h.unlock()
	h.turns.Drop(n, h.site.budget, func(m *coherence.Message) bool { return m.Node == n })
	s := h.site.scratch()
	defer h.site.spare(s)
	if back {
		h.half.Back(n, &s.work)
	} else {
		holds := h.half.Holds(n)
		h.site.counts.expired.Add(holds)
		_, fence := h.r.ledger.Seen()
		h.site.ended(Ending{Resource: h.r, Node: n, Grants: int(holds), Fence: fence})
		h.half.Lost(n, &s.work)
	}
	h.do(s)
}

// poke tells the mirrors the news, unless another goroutine does so now.
func (h *home) poke() {
	if h.stirred() && h.mu.TryLock() {
		h.unlock()
	}
}

// stirred reports whether there is news.
func (h *home) stirred() bool {
	return h.news.Load() != nil || h.r.completed.Load()&broken != 0 && !h.over.Load()
}

// unlock tells the mirrors the news, and unlocks the mutex. A goroutine that finds the mutex
// locked leaves its news to the owner. So unlock looks again afterwards.
func (h *home) unlock() {
	for {
		if h.stirred() {
			h.tell()
		}
		h.r.point()
		h.mu.Unlock()
		if !h.stirred() || !h.mu.TryLock() {
			return
		}
	}
}

// tell tells the mirrors the news.
func (h *home) tell() {
	s := h.site.scratch()
	defer h.site.spare(s)
	for h.news.Load() != nil {
		h.takeNews(s)
		h.half.Granted(s.granted, &s.work)
		h.do(s)
	}
	if h.r.completed.Load()&broken != 0 {
		h.end(s)
	}
}

// takeNews collects the guests that were granted, in their order.
func (h *home) takeNews(s *scratch) {
	s.granted = s.granted[:0]
	var first *guest
	for g := h.news.Swap(nil); g != nil; { // the news is a stack
		g.next, first, g = first, g, g.next
	}
	for g := first; g != nil; {
		next := g.next
		g.next = nil
		if h.r.completed.Load()&broken == 0 && h.guests[g.number] == g && g.hold() {
			s.granted = append(s.granted, g.number)
		}
		g = next
	}
}

// end tells all mirrors that the resource is broken.
func (h *home) end(s *scratch) {
	h.over.Store(true)
	if !h.half.Over() {
		h.half.Broken(&s.work)
		clear(h.guests)
		h.do(s)
	}
}
