package resource

// A place is listed while its request waits for a grant: because its task waits in
// Acquire, or because Tell or Notify asked for a call.

// list makes the request visible to the goroutine that grants it. A grant from before
// the listing has not seen it, so list looks again and serves the request itself. Once the
// request is visible, the hook may have given the place to another goroutine: so list does
// not touch place and waiter any more.
func (p *Place) list(s uint64, hook Hook) {
	r, w, ticket, m := p.r, p.waiter(), s&^flags, modeOf(s)
	p.listed, p.notified = true, hook != nil
	w.ticket, w.mode, w.stray = ticket, m, 0
	if s&doorBit == 0 {
		w.stray = 1
	}
	state := uint32(listed)
	if hook != nil {
		w.hook = hook
		state |= hooked
	}
	w.state.Store(state)
	r.list(w)
	if c := r.load(&r.completed); c&broken != 0 || due(c, ticket, m) {
		r.settle(ticket, c, nil)
	} else if r.home != nil {
		r.home.wanted()
	}
}

// waiter is what the place waits with.
func (p *Place) waiter() *waiter {
	if p.w == nil {
		p.w = new(waiter)
	}
	return p.w
}

// Hook is told of a grant: see [Place.Tell].
type Hook interface {
	// Granted is called once, by the goroutine that has granted the request. The
	// goroutine waits until Granted returns. The place may be acquired by then. by is
	// the value that the goroutine has passed to [Place.RenewBy] or [Place.ReleaseBy],
	// or nil.
	Granted(by any)
}

// Notify is Tell for a function.
func (p *Place) Notify(f func()) error { return p.Tell(hookFunc(f)) }

type hookFunc func()

func (f hookFunc) Granted(any) { f() }

// Tell calls h once when the request is granted: at once if it is granted already,
// otherwise from the goroutine that grants it. h may be called even if the request is
// cancelled meanwhile. Call Tell once for each request.
func (p *Place) Tell(h Hook) error {
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
	if p.lined || !p.w.watch(h) { // lined: the queue has granted it, and it waits at the guard
		h.Granted(nil)
	}
	return nil
}

// GrantedOrTell reports whether Acquire would find the request granted by the queue. If not,
// h is told of the grant, as by Tell. It is for a task without a goroutine that waits for
// several accesses. The task does not enter a guard before it has all of them: so it keeps
// no relaxed access out while it waits. A task waits once at a time: waits says that it does not
// wait yet, and that the observers hear of it, as by Acquire.
func (p *Place) GrantedOrTell(h Hook, waits bool) (granted bool, err error) {
	s := p.state.Load()
	if s&requestedBit == 0 || p.lined || p.told(s) {
		return true, nil
	}
	if waits && p.hears(Waiting) {
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
		return p.w.state.Load() == granted
	}
	return due(p.r.load(&p.r.completed), s&^flags, modeOf(s))
}
