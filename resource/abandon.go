package resource

import "fmt"

// Abandon ends what the place does on behalf of somebody who is lost: a task that
// has panicked, for one. A request is cancelled. An access is released, those after
// it are told as the resource's [Policy] says, see [Place.Prior], and a resource
// whose policy is Abort is broken, with the reason.
//
// What was written on another node than the home's is dropped with the mirror's
// copy. What was written at home was written in place, and there is no copy to take
// it from again: it stays, as a version of its own, so that all nodes go on with the
// same bytes, half done as they may be.
func (p *Place) Abandon(reason error) error {
	s := p.state.Load()
	switch {
	case s&requestedBit != 0:
		return p.Cancel()
	case s&heldBit == 0:
		return p.error("abandon", ErrNotHeld)
	case p.far:
		return p.releaseFar(s, true)
	case s&writeBit == 0:
		return p.Release()
	}
	r := p.r
	p.commit(s)
	r.ledger.Lose(Write)
	if r.ledger.Aborted() {
		r.Break(fmt.Errorf("%w: %w", ErrAborted, reason))
	}
	p.set(s & writeBit)
	r.end(s, nil)
	if p.w != nil {
		p.w.alarm.Off()
	}
	if o := p.observer(); o != nil {
		o.Released(p)
	}
	return nil
}
