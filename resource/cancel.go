package resource

// Cancel takes the request back, granted or not. The order of the others is as if
// it had never been.
func (p *Place) Cancel() error {
	s := p.state.Load()
	switch {
	case s&heldBit != 0:
		return p.error("cancel", ErrHeld)
	case s&requestedBit == 0:
		return p.error("cancel", ErrNotRequested)
	}
	p.withdraw(s)
	if o := p.observer(); o != nil {
		o.Cancelled(p)
	}
	return nil
}

func (p *Place) withdraw(s uint64) {
	r, m := p.r, modeOf(s)
	p.set(s & writeBit)
	if p.w != nil {
		p.w.alarm.Off()
	}
	if p.lined || p.inside {
		p.withdrawInside(s)
		return
	}
	if !p.listed && !due(r.load(&r.completed), s&^flags, m) {
		p.list(s, nil)
	}
	if !p.listed || !p.giveUp() {
		p.listed = false
		r.end(s) // it is granted
		return
	}
	w := p.w
	p.w, p.listed = nil, false // whoever completes the ghost drops it
	r.add(&r.ghosts, 1)
	r.settle(w.ticket, r.load(&r.completed))
}

// giveUp makes the request a ghost, unless it is granted.
func (p *Place) giveUp() bool {
	p.r.point()
	gone := p.w.giveUp()
	p.r.saw(uint64(p.w.state.Load()))
	return gone
}
