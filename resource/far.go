package resource

// A place of a resource that has its home elsewhere. Its state holds the ID of its
// request where it would hold a ticket, and what it does goes through the mirror.

func idOf(state uint64) ID { return ID(state / oneWriter) }

func stateOf(id ID, m Mode) uint64 { return uint64(id)*oneWriter | modeBit(m) | requestedBit }

// acquireFar ends the wait of a place that was woken.
func (p *Place) acquireFar(s uint64) error {
	if err := p.r.mirrored.enter(p, idOf(s)); err != nil {
		return p.failed("acquire", err)
	}
	p.listed = false
	p.set(s ^ phaseBits)
	if p.hears(Acquisitions) {
		p.x.observer.Acquired(p)
	}
	return nil
}

// releaseFar is Release. The release of an access that was over before is an error, and
// the place is idle afterwards.
func (p *Place) releaseFar(s uint64, abandoned bool) error {
	ended, err := p.r.mirrored.release(p, idOf(s), p.access(s, abandoned))
	if !ended {
		return p.error("release", err)
	}
	p.set(s & writeBit)
	p.endUse()
	if err == nil {
		err = p.confirmed()
	}
	if err != nil {
		return p.failed("release", err)
	}
	if p.hears(Releases) {
		p.x.observer.Released(p)
	}
	return nil
}

// renewFar is Renew: an iteration of a pair takes one message there and one back. If the
// access was over before, or its write is lost, the place is idle afterwards.
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
		p.set(s & writeBit)
		return p.failed("renew", err)
	}
	if p.hears(Requests) {
		p.x.observer.Requested(p)
	}
	if p.hears(Releases) {
		p.x.observer.Released(p)
	}
	return nil
}

// cancelFar is Cancel of what was requested.
func (p *Place) cancelFar(s uint64) {
	p.set(s & writeBit)
	p.w.alarm.Off()
	p.r.mirrored.cancel(idOf(s))
	// Whoever was about to wake it may still be.
	if p.w.giveUp() {
		p.w = nil
	}
	p.listed = false
}

// access is what the place has to say of the access that it ends.
func (p *Place) access(s uint64, abandoned bool) Access {
	a := Access{ID: idOf(s), Wrote: p.wrote && !abandoned, Abandoned: abandoned}
	if x := p.x; a.Wrote && x != nil && x.dirty != nil && x.dirty.Bytes() < len(p.r.bytes) {
		for r := range x.dirty.All() {
			a.Spans = append(a.Spans, r)
		}
	}
	return a
}

// endUse ends the use of the bytes, and forgets what was done with them.
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

// over is the error of op by a place whose access is, or nil.
func (p *Place) over(op string) error {
	if err := p.r.mirrored.ended(idOf(p.state.Load())); err != nil {
		return p.error(op, err)
	}
	return nil
}
