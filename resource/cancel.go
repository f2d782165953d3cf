package resource

import "github.com/orwl/go-orwl/internal/invariant"

// Cancel takes the request back, granted or not. The other requests keep their order.
func (p *Place) Cancel() error {
	s := p.state.Load()
	switch {
	case s&heldBit != 0:
		return p.error("cancel", ErrHeld)
	case s&requestedBit == 0:
		return p.error("cancel", ErrNotRequested)
	}
	switch {
	case p.far():
		p.cancelRemote(s)
	default:
		p.withdraw(s)
	}
	p.tell(Withdrawn)
	return nil
}

func (p *Place) withdraw(s uint64) {
	p.state.Set(s & writeBit)
	if p.w != nil {
		p.w.calm()
	}
	p.drop(s)
}

// drop takes the place's request out of the queue. s is the state of that request.
func (p *Place) drop(s uint64) {
	r, m := p.r, modeOf(s)
	if p.lined || p.inside {
		p.withdrawInside(s)
		return
	}
	if !p.listed && !due(r.load(&r.completed), s&^flags, m) {
		p.list(s, nil)
	}
	if !p.listed || !p.giveUp() {
		invariant.Sometimes(p.listed, "a cancel loses against the grant")
		p.listed = false
		r.end(s, nil) // it is granted
		return
	}
	p.haunt()
}

// haunt leaves the request in the queue as a ghost. The step that makes it due
// completes it.
func (p *Place) haunt() {
	w, r := p.w, p.r
	p.w, p.listed = nil, false
	r.settle(w.word.Load(), r.load(&r.completed), nil)
}

// giveUp makes the request a ghost, unless it is granted.
func (p *Place) giveUp() bool {
	p.r.point()
	gone := p.w.giveUp()
	p.r.saw(p.w.word.Load())
	return gone
}
