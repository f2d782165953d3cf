package resource

import (
	"context"
	"sync"
	"sync/atomic"
)

// homed is what makes a resource the home of mirrors: the home's half of the
// protocol, behind a mutex, and its line, which is the resource's queue. A mirror's
// request is a place in it as any other, but that nobody sleeps there: it has a
// hook.
//
// # Who tells
//
// A hook runs inside of whatever grants, which may be a Release by anybody on this
// node, in the middle of the queue. So it only notes the grant. When the queue's
// step is done, whoever made it looks whether there is news, and if nobody has the
// mutex takes it and tells (poke). Who has it looks for news before it lets go, and
// once more afterwards. So news is told by somebody who is here already, nobody waits
// for it, and there is no goroutine for it.
type homed struct {
	site *Site
	r    *Resource
	home *Home
	news atomic.Pointer[guestPlace]
	over atomic.Bool // the resource is broken, and everybody knows
	lone atomic.Bool // a mirror was granted something alone, and nobody has wanted it since
	want atomic.Bool // somebody does

	mu      sync.Mutex
	places  []*guestPlace // by ticket, nil where there is none
	writers []ID          // that wait, in their order; and some that do not any more
	gather  *gathering    // nil once the first requests are queued up
	order   uint64        // of the message that is being taken
	early   early
	last    Node   // whose request was granted last, of all mirrors'
	next    uint64 // the ticket after that
}

// guestPlace is the place of a mirror's request in the queue of the home.
type guestPlace struct {
	Place
	home *homed
	id   ID
	hook func()
	next *guestPlace // among the news
}

// granted is the hook.
func (g *guestPlace) granted() {
	h := g.home
	for {
		g.next = h.news.Load()
		if h.news.CompareAndSwap(g.next, g) {
			return
		}
	}
}

// arrive makes a request that is granted one that holds, inside the guard.
func (g *guestPlace) arrive(ctx context.Context) error {
	s := g.state.Load()
	if err := g.w.sleep(ctx); err != nil { // who grants it may be about to say so
		return err
	}
	g.listed = false
	if err := g.enter(ctx, s, false); err != nil {
		return err
	}
	g.state.Set((s | doorBit) ^ phaseBits)
	return nil
}

// arriveAside is arrive where the lock may need messages of other nodes, and reports
// whether the request holds. Otherwise the request comes back as news once it does.
func (g *guestPlace) arriveAside(s uint64) bool {
	if g.w.state.Load() == granted && g.enterAtOnce(s) {
		g.listed = false
		g.state.Set((s | doorBit) ^ phaseBits)
		return true
	}
	h := g.home
	h.r.guard.Load().locks.Reach.Aside(func() {
		if g.arrive(context.Background()) == nil {
			g.granted() // from here on it may serve another request
			h.poke()
		}
	})
	return false
}

// poke tells the mirrors the news, unless another goroutine does so now. A goroutine that
// finds the mutex locked leaves its news to the owner. So poke looks again after it has
// unlocked.
func (h *homed) poke() {
	for h.stirred() && h.mu.TryLock() {
		h.drain()
		h.r.point()
		h.mu.Unlock()
	}
}

// stirred reports whether there is news.
func (h *homed) stirred() bool {
	return h.news.Load() != nil || h.want.Load() || h.r.completed.Load()&broken != 0 && !h.over.Load()
}

// unlock tells the mirrors what there is to tell, and lets go of the mutex.
func (h *homed) unlock() {
	h.drain()
	h.mu.Unlock()
	h.poke()
}

// drain tells the mirrors what there is to tell.
func (h *homed) drain() {
	if !h.stirred() && len(h.writers) == 0 {
		return
	}
	s := h.site.scratch()
	defer h.site.spare(s)
	h.tell(s)
}

// tell is drain with memory for what is said.
func (h *homed) tell(s *scratch) {
	if h.want.Load() && h.want.Swap(false) {
		h.home.Wanted()
		s.out = h.home.Flush(s.out)
		h.send(s)
	}
	for {
		g := h.news.Swap(nil)
		if g == nil {
			break
		}
		var first *guestPlace // news is a stack, and was a queue
		for g != nil {
			g.next, first, g = first, g, g.next
		}
		for g := first; g != nil; {
			next := g.next
			g.next = nil
			h.arrived(g)
			g = next
		}
		s.out = h.home.Flush(s.out)
		h.send(s)
	}
	if h.r.completed.Load()&broken != 0 {
		h.end(s)
		return
	}
	if len(h.writers) > 0 && h.pushable() {
		s.out = h.home.Flush(s.out)
		h.send(s)
	}
}

// wanted recalls the releases of mirrors that were granted alone, since a request waits.
func (h *homed) wanted() {
	if h.lone.Load() && h.lone.CompareAndSwap(true, false) {
		h.want.Store(true)
		h.poke()
	}
}

// end tells all mirrors and places that the resource is broken.
func (h *homed) end(s *scratch) {
	h.over.Store(true)
	if h.home.over == 0 {
		s.out = h.home.Break(s.out)
		clear(h.places)
		h.send(s)
	}
	h.start() // so that places of this node are woken, too
}

// arrived takes note of a grant. It goes through the guard first, if there is one,
// and waits there for a relaxed section to end, which waits for nobody's grant.
func (h *homed) arrived(g *guestPlace) {
	if h.home.over != 0 || h.at(g.id) != g {
		return // forgotten, when the resource was aborted
	}
	c := h.r.completed.Load()
	if s := g.state.Load(); c&broken == 0 && c&guarded != 0 && s&heldBit == 0 {
		if h.r.published() != nil {
			if !g.arriveAside(s) {
				return // it comes back as news
			}
		} else if err := g.arrive(context.Background()); err != nil {
			return // it is broken by now
		}
	}
	h.home.Granted(g.id)
}

// pushable reports whether the writer that comes next may have the bytes already:
// it waits for nothing but readers, who are granted, so nobody writes before it.
//
// Only mirrors' requests are looked at, and only when one of their steps, or the
// grant of one, comes by. What is missed is the moment at which a writer's release
// grants readers of this node only: then the bytes come with the grant.
func (h *homed) pushable() bool {
	for len(h.writers) > 0 {
		id := h.writers[0]
		if g := h.at(id); g != nil && modeOf(g.state.Load()) == Write && h.home.waits(id) {
			c, t := h.r.completed.Load(), g.state.Load()&^flags
			// With a relaxed door, any writer may come in between.
			if c&(guarded|broken) != 0 || h.gather != nil || !passed(c, t) || due(c, t, Write) {
				return false
			}
			h.home.Next(id)
			return true
		}
		if len(h.writers) == 1 {
			h.writers = h.writers[:0] // so that a pair does not allocate
			break
		}
		h.writers = h.writers[1:]
	}
	return false
}

// send sends what the home has to say.
func (h *homed) send(s *scratch) {
	for i := range s.out {
		m := &s.out[i]
		if m.Kind == RefusedMessage && m.Reason == Stale {
			h.site.counts.fenced.Add(1)
		}
		// What is pushed may be written before it is taken, if its writer gives up.
		h.site.send(m.Node, m, s, h.r.pages == nil && h.r.published() == nil && m.Kind == GrantMessage)
	}
	s.said()
}

// deliver takes a message from a mirror.
func (h *homed) deliver(m *Message, s *scratch) error {
	h.mu.Lock()
	defer h.unlock()
	err := h.early.inTurn(h.site, m.Node, m, s, h.step)
	if h.stirred() {
		h.tell(s)
	}
	return err
}

func (h *homed) step(m *Message, s *scratch) error {
	h.order = m.Order
	if h.home.outlives(m) {
		h.r.lent = true // no local place writes beside a mirror's that holds
	}
	var err error
	s.out, err = h.home.Step(m, s.out)
	if h.order != 0 && err == nil {
		h.came() // it was refused, and is not waited for
	}
	h.order = 0
	h.send(s)
	return err
}

// lost takes a node out of the queue that is lost, or is back.
func (h *homed) lost(n Node, back bool) {
	h.mu.Lock()
	defer h.unlock()
	h.early.drop(h.site, n, func(k *Message) bool { return k.Node == n })
	s := h.site.scratch()
	defer h.site.spare(s)
	if back {
		s.out = h.home.Back(n, s.out)
	} else {
		lent := h.home.lends(n)
		h.site.counts.expired.Add(lent)
		h.site.ended(Ending{Resource: h.r, Node: n, Grants: int(lent), Fence: h.r.ledger.fence.Load()})
		s.out = h.home.Lost(n, s.out)
	}
	h.send(s)
}
