package resource

// A place is listed while its request waits for a grant: because its task waits in
// Acquire, or because Tell or Notify asked for a call.

// list shows the request where every later change of completed finds it. A grant from before
// has not seen it, so list looks again and serves the request itself. Once the word of a
// waiter is stored, another goroutine may grant it, and its hook may have given the place to a
// third one: so list does not touch place and waiter any more.
//
// If the resource is broken, requests complete out of their order. So completed says no more
// which slots are free, and list grants the request at once.
func (p *Place) list(s uint64, hook *Hook) {
	r, ticket, m := p.r, s&^flags, modeOf(s)
	w, v := p.waiter(&r.queue, m, hook), ticket|listed
	p.listed, p.notified = true, hook != nil
	w.stray = 0
	if s&doorBit == 0 {
		w.stray = 1
	}
	if hook != nil {
		v |= hooked
	}
	c := r.load(&r.completed)
	if c&broken != 0 {
		w.word.Store(v)
		r.offer(w, c, new(served))
		return
	}
	own, all := r.near(v), &r.readers
	ahead := (uint32(v/oneWriter) - uint32(c/oneWriter)) & writersMask
	if ahead >= fewest && ahead <= writersMask/2 {
		b := r.grow(int(ahead)).of(v)
		own, all = &b.writer, &b.readers
	}
	if m == Read {
		w.word.Store(v)
		w.next = nil
		r.put(all, w)
	} else {
		if own.Load() != w {
			r.point()
			own.Store(w)
		}
		r.point()
		w.word.Store(v)
	}
	if c := r.load(&r.completed); c&broken != 0 || due(c, ticket, m) {
		r.settle(ticket, c, nil)
	} else if r.home != nil {
		r.home.wanted()
	}
}

// Hook is told of a grant: see [Place.Tell].
type Hook struct {
	// Granted is called once, by the goroutine that has granted the request. The
	// goroutine waits until Granted returns. The place may be acquired by then. by is
	// the value that the goroutine has passed to [Place.RenewBy] or [Place.ReleaseBy],
	// or nil.
	Granted func(by any)
}

// Notify is Tell for a function.
func (p *Place) Notify(f func()) error { return p.Tell(&Hook{func(any) { f() }}) }

// Tell calls h once when the request is granted: at once if it is granted already,
// otherwise from the goroutine that grants it. h may be called even if the request is
// cancelled meanwhile. Call Tell once for each request.
func (p *Place) Tell(h *Hook) error {
	s := p.state.Load()
	if s&requestedBit == 0 {
		return p.error("notify", ErrNotRequested)
	}
	if p.listed && p.notified {
		return p.error("notify", ErrNotified)
	}
	if !p.listed && !p.lined {
		p.list(s, h)
		return nil
	}
	p.notified = true
	if p.lined || !p.waiter(&p.r.queue, modeOf(s), h).watch() { // lined: the queue has granted it, and it waits at the guard
		h.Granted(nil)
	}
	return nil
}

// GrantedOrTell reports whether Acquire would find the request granted by the queue. If not,
// h is told of the grant, as by Tell. It is for a task without a goroutine that waits for
// several accesses. The task does not enter a guard before it has all of them: so it keeps
// no relaxed access out while it waits. A task waits once at a time: waits says that it does not
// wait yet, and that the observers hear of it, as by Acquire.
func (p *Place) GrantedOrTell(h *Hook, waits bool) (granted bool, err error) {
	s := p.state.Load()
	if s&requestedBit == 0 || p.lined || p.told(s) {
		return true, nil
	}
	if waits {
		p.tell(Waiting)
	}
	if p.listed {
		return false, p.Tell(h)
	}
	p.list(s, h)
	return false, nil
}

// told reports whether the queue has granted the request, and is done with its waiter.
func (p *Place) told(s uint64) bool {
	if p.listed {
		return p.w.state() == granted
	}
	return due(p.r.load(&p.r.completed), s&^flags, modeOf(s))
}
