package resource

// The places of a resource that has its home elsewhere. The state of such a place holds
// the ID of its request instead of a ticket, and its operations go through the mirror.

func idOf(state uint64) ID { return ID(state / oneWriter) }

func stateOf(id ID, m Mode) uint64 { return uint64(id)*oneWriter | modeBit(m) | requestedBit }

// acquireFar ends the wait of a place whose waiter is granted.
func (p *Place) acquireFar(s uint64) error {
	if err := p.r.mirrored.enter(p, idOf(s)); err != nil {
		return p.failed("acquire", err)
	}
	p.listed = false
	p.state.Set(s ^ phaseBits)
	if p.hears(Acquired) {
		p.tell(Acquired)
	}
	return nil
}

// releaseFar is Release. If the access has ended early, it returns the reason, and the
// place is idle.
func (p *Place) releaseFar(s uint64, abandoned bool) error {
	ended, err := p.r.mirrored.release(p, idOf(s), p.access(s, abandoned))
	if !ended {
		return p.error("release", err)
	}
	p.state.Set(s & writeBit)
	p.endUse()
	if err == nil {
		err = p.confirmed()
	}
	if err != nil {
		return p.failed("release", err)
	}
	if p.hears(Released) {
		p.tell(Released)
	}
	return nil
}

// renewFar is Renew: one message, and one round trip for each iteration of a pair. If
// the access has ended early, or its write is lost, the place is idle afterwards.
func (p *Place) renewFar(s uint64) error {
	ended, err := p.r.mirrored.renew(p, idOf(s), p.access(s, false))
	if !ended {
		return p.error("renew", err)
	}
	p.endUse()
	if err == nil {
		if err = p.confirmed(); err != nil {
			p.cancelFar(p.state.Load())
		}
	}
	if err != nil {
		p.state.Set(s & writeBit)
		return p.failed("renew", err)
	}
	if p.hears(Requested) {
		p.tell(Requested)
	}
	if p.hears(Released) {
		p.tell(Released)
	}
	return nil
}

// cancelFar is Cancel of a request.
func (p *Place) cancelFar(s uint64) {
	p.state.Set(s & writeBit)
	p.w.calm()
	p.r.mirrored.cancel(idOf(s))
	// A goroutine may still be about to wake the waiter.
	if p.w.giveUp() {
		p.w = nil
	}
	p.listed = false
}

// access describes the access that the place ends, for the mirror.
func (p *Place) access(s uint64, abandoned bool) Access {
	a := Access{ID: idOf(s), Wrote: p.wrote && !abandoned, Abandoned: abandoned}
	if x := p.x; a.Wrote && x != nil && x.dirty != nil && x.dirty.Bytes() < len(p.r.bytes) {
		for r := range x.dirty.All() {
			a.Spans = append(a.Spans, r)
		}
	}
	return a
}

// endUse closes the place's view, and forgets what the place has written.
func (p *Place) endUse() {
	p.wrote = false
	if x := p.x; x != nil {
		if x.dirty != nil {
			x.dirty.Reset()
		}
		if x.view != nil {
			p.shut()
		}
	}
	if p.watches {
		p.unwatch()
	}
}

// over returns the error of op if the place's access has ended early.
func (p *Place) over(op string) error {
	if err := p.r.mirrored.ended(idOf(p.state.Load())); err != nil {
		return p.error(op, err)
	}
	return nil
}
