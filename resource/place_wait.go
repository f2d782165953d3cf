package resource

import "context"

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

// AcquireOrTell acquires if the request is granted, and reports whether it has. If not, h is
// told of the grant, as by Tell: call it again then. It is Acquire for a task without a
// goroutine. If the guard must be entered, it waits for that, as Acquire does.
func (p *Place) AcquireOrTell(ctx context.Context, h Hook) (acquired bool, err error) {
	if s := p.state.Load(); s&requestedBit != 0 && !p.lined && !p.told(s) {
		if p.hears(Waiting) {
			p.tell(Waiting)
		}
		if p.listed {
			return false, p.Tell(h)
		}
		p.list(s, h)
		return false, nil
	}
	if err := p.Acquire(ctx); err != nil {
		return false, err
	}
	return true, nil
}

// told reports whether the queue has granted the request, and is done with its waiter.
func (p *Place) told(s uint64) bool {
	if p.listed {
		return p.w.state.Load() == granted
	}
	return due(p.r.load(&p.r.completed), s&^flags, modeOf(s))
}
