package resource

// A place whose request is not granted yet is listed, to be told: because its task
// waits in Acquire, or because somebody has asked for it by Notify.

// list makes sure that whoever grants the request finds it. Who granted it before
// that has not, which is why it then serves itself.
func (p *Place) list(s uint64, hook Hook) {
	p.listed, p.notified = true, false
	w := p.waiter()
	w.ticket, w.mode, w.stray = s&^flags, modeOf(s), 0
	if s&doorBit == 0 {
		w.stray = 1
	}
	state := uint32(listed)
	if hook != nil {
		w.hook = hook
		state |= hooked
	}
	w.begin(state)
	r := p.r
	r.list(w)
	if c := r.load(&r.completed); c&broken != 0 || due(c, w.ticket, w.mode) {
		r.settle(w.ticket, c, nil)
	} else if r.home != nil {
		r.home.wanted()
	}
}

// waiter is what the place waits with.
func (p *Place) waiter() *waiter {
	if p.w == nil {
		p.w = newWaiter(p.bed())
	}
	return p.w
}

// Hook is told of a grant: see [Place.Tell].
type Hook interface {
	// Granted is called once, by the goroutine that has granted the request, which waits
	// meanwhile. The place may be acquired by then. by is what that goroutine has passed
	// to [Place.RenewBy] or [Place.ReleaseBy], or nil.
	Granted(by any)
}

// Notify is Tell for a function.
func (p *Place) Notify(f func()) error { return p.Tell(hookFunc(f)) }

type hookFunc func()

func (f hookFunc) Granted(any) { f() }

// Tell has h told once when the request is granted: at once if it is granted already,
// otherwise by the goroutine whose release grants it. A request that is cancelled
// meanwhile may still be told of. It is called once for each request.
func (p *Place) Tell(h Hook) error {
	s := p.state.Load()
	if s&requestedBit == 0 {
		return p.error("notify", ErrNotRequested)
	}
	if p.listed && p.notified {
		return p.error("notify", ErrNotified)
	}
	if p.lined {
		h.Granted(nil) // the queue has granted it, and it waits at the guard
	} else if !p.listed {
		p.list(s, h)
	} else if !p.w.watch(h) {
		h.Granted(nil)
	}
	p.notified = true
	return nil
}

// Waits tells the observer that the request is waited for from now on, as Acquire does by
// itself, and reports whether it has told. It does not if the request is granted. It is for
// a task that uses Tell in place of waiting in Acquire.
func (p *Place) Waits() bool {
	if !p.hears(Waits) || p.Granted() {
		return false
	}
	p.x.observer.Waiting(p)
	return true
}
