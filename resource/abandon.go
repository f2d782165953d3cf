package resource

import "fmt"

// Abandon ends what the place does because its task has failed, for example by an error
// or a panic. reason is that failure. Abandon never waits, and commits nothing.
//
// It cancels a request. It releases an access that changed nothing: one for reading, or
// one for writing that called none of Writable, Resize and Dirty. Otherwise the
// resource's [Policy] applies. It says what happens to the bytes, and what
// [Place.Prior] tells the next holders.
func (p *Place) Abandon(reason error) error {
	s := p.state.Load()
	switch {
	case s&requestedBit != 0:
		return p.Cancel()
	case s&heldBit == 0:
		return p.error("abandon", ErrNotHeld)
	case !p.wrote:
		return p.Release()
	}
	if p.x != nil {
		p.releasing()
	}
	if p.far {
		return p.releaseFar(s, true)
	}
	r := p.r
	p.endUse()
	r.failed(reason)
	if r.ledger.Aborted() {
		r.Break(fmt.Errorf("%w: %w", ErrAborted, reason))
	}
	p.set(s & writeBit)
	r.end(s, nil)
	if p.w != nil {
		p.w.alarm.Off()
	}
	if p.hears(Releases) {
		p.x.observer.Released(p)
	}
	return nil
}
