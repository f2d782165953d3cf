package resource

// A place whose request is not granted yet is listed, to be told: because its task
// waits in Acquire, or because somebody has asked for it by Notify.

// list makes sure that whoever grants the request finds it. Who granted it before
// that has not, which is why it then serves itself.
func (p *Place) list(s uint64, hook func()) {
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
		r.settle(w.ticket, c)
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

// Notify has f called once, when the request is granted: at once if it is
// already, otherwise by whoever releases what it waits for, who waits meanwhile.
// A request that is cancelled meanwhile may still be told of. Once for each request.
func (p *Place) Notify(f func()) error {
	s := p.state.Load()
	if s&requestedBit == 0 {
		return p.error("notify", ErrNotRequested)
	}
	if p.listed && p.notified {
		return p.error("notify", ErrNotified)
	}
	if p.lined {
		f() // in its turn since long, and waits at the guard
	} else if !p.listed {
		p.list(s, f)
	} else if !p.w.watch(f) {
		f()
	}
	p.notified = true
	return nil
}
