package resource

import "context"

// enter makes the place, which the FIFO has granted, a member of the guard. If it
// fails, the place is no member, and its waiter may still be in a list of the guard.
// waited says that the observer knows of the wait already.
func (p *Place) enter(ctx context.Context, s uint64, waited bool) error {
	if p.inside {
		p.inside = false
		return nil
	}
	r, g := p.r, p.r.guard.Load()
	for {
		// The waiter may still be in a list of the guard. It is the place's own again
		// once the guard has taken it out, which happens when the awaited state ends.
		if p.lined {
			if !waited {
				waited = true
				if err := p.waits(ctx); err != nil {
					return err
				}
			}
			if err := p.w.sleep(ctx); err != nil {
				return err
			}
			p.lined = false
		}
		if r.load(&r.completed)&broken != 0 {
			return r.brokenError()
		}
		v := g.load()
		if v&busy != 0 {
			p.lined = true
			w := p.waiter(nil, modeOf(s), nil)
			w.lieDown(p.bed())
			g.line(w, busy, busy)
			continue
		}
		if !waited && !g.fits(v, modeOf(s)) {
			waited = true
			if err := p.waits(ctx); err != nil {
				return err
			}
		}
		in, err := g.admit(ctx, v, modeOf(s))
		if in {
			r.entered(s)
		}
		if in || err != nil {
			return err
		}
	}
}

// tryEnter is enter without waiting.
func (p *Place) tryEnter(s uint64) bool {
	if p.inside {
		return true
	}
	if p.lined {
		if p.w.state() != granted {
			return false
		}
		p.lined = false
	}
	g := p.r.guard.Load()
	for v := g.load(); v&busy == 0; v = g.load() {
		in, tried := g.tryAdmit(v, modeOf(s))
		if in {
			p.inside = true
			p.r.entered(s)
			return true
		}
		if tried {
			return false
		}
	}
	return false
}

// enterAtOnce is enter if that changes no lock.
func (p *Place) enterAtOnce(s uint64) bool {
	g := p.r.guard.Load()
	for v := g.load(); v&busy == 0 && g.fits(v, modeOf(s)); v = g.load() {
		if g.join(v) {
			p.r.entered(s)
			return true
		}
	}
	return false
}

// entered accounts for a stray that has entered.
func (r *Resource) entered(s uint64) {
	g := r.guard.Load()
	switch {
	case modeOf(s) == Write:
		g.drained() // all before it have completed
	case s&doorBit == 0:
		g.account(1)
	}
}

// end completes a granted request. The request is a member of the guard if s has
// heldBit and doorBit. by is for the hooks of the requests that this grants.
func (r *Resource) end(s uint64, by any) {
	if s&(heldBit|doorBit) == heldBit|doorBit {
		r.leave(s, by)
		return
	}
	c := r.add(&r.completed, unit(modeOf(s)))
	if r.settle(c, c, by); c&guarded != 0 {
		r.gone(s)
	}
}

// gone accounts for a request that has completed outside of the guard.
func (r *Resource) gone(s uint64) {
	switch {
	case s&doorBit != 0:
	case modeOf(s) == Write:
		r.guard.Load().drained() // all before it have completed, and all after it enter
	default:
		r.guard.Load().account(1)
	}
}

// leave completes a request of a member.
func (r *Resource) leave(s uint64, by any) {
	g := r.guard.Load()
	last := g.leave()
	c := r.add(&r.completed, unit(modeOf(s)))
	woken := r.settle(c, c, by)
	if last {
		g.decide(woken)
	} else if g.published != nil && r.completed.Load()&broken != 0 {
		g.abandon()
	}
}

// withdrawInside cancels a request that the FIFO has granted and that has come to the
// guard.
func (p *Place) withdrawInside(s uint64) {
	p.listed = false // it was granted, or would not be here
	if p.inside {
		p.inside = false
		p.r.leave(s, nil)
		return
	}
	if p.w.giveUp() {
		p.w = nil
		p.r.guard.Load().wake() // so that ghosts do not pile up
	}
	p.lined = false
	p.r.end(s, nil)
}
