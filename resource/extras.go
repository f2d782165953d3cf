package resource

import "context"

// extras are the fields that few places need, or that a place sets only once.
type extras struct {
	bed      Bed
	remote   *remote // nil until it requests at a mirror
	observer Observer
	releaser Releaser // the observer, if it is one
	hears    Events   // what the observer is told
	dirty    *Ranges  // what the place has named since it was granted
	view     *mapping // of a resource with fault pages
}

// Observer is told what places do, by the goroutine that does it. It may look at
// the place, and must not change it.
type Observer interface {
	// Requested comes after Request and Renew, Acquired after Acquire, Released
	// after Release and Renew, Cancelled after Cancel.
	Requested(p *Place)
	Acquired(p *Place)
	Released(p *Place)
	Cancelled(p *Place)
	// Waiting comes once, before an Acquire stops its goroutine. If the context ends
	// first, no Acquired follows.
	Waiting(p *Place)
}

// Observers is several observers as one.
type Observers []Observer

// Requested tells all.
func (all Observers) Requested(p *Place) {
	for _, o := range all {
		o.Requested(p)
	}
}

// Acquired tells all.
func (all Observers) Acquired(p *Place) {
	for _, o := range all {
		o.Acquired(p)
	}
}

// Released tells all.
func (all Observers) Released(p *Place) {
	for _, o := range all {
		o.Released(p)
	}
}

// Cancelled tells all.
func (all Observers) Cancelled(p *Place) {
	for _, o := range all {
		o.Cancelled(p)
	}
}

// Waiting tells all.
func (all Observers) Waiting(p *Place) {
	for _, o := range all {
		o.Waiting(p)
	}
}

// Sleep makes the place wait in another bed than its own. Call it before the first
// request.
func (p *Place) Sleep(in Bed) { p.extra().bed = in }

// Observe sets the observer of the place. Call it while the place is idle; nil ends it.
func (p *Place) Observe(o Observer) {
	x := p.extra()
	x.observer, x.hears = o, 0
	x.releaser, _ = o.(Releaser)
	if o != nil {
		x.hears = Requests | Waits | Acquisitions | Releases
	}
}

func (p *Place) extra() *extras {
	if p.x == nil {
		p.x = new(extras)
	}
	return p.x
}

// waits tells the observer that Acquire is going to wait. Acquire must not wait if that
// breaks the leaf rule.
func (p *Place) waits(ctx context.Context) error {
	if err := holderOf(ctx).mayWait(); err != nil {
		return err
	}
	if p.hears(Waits) {
		p.x.observer.Waiting(p)
	}
	return nil
}

// observer is the place's observer, or nil.
func (p *Place) observer() Observer {
	if p.x == nil {
		return nil
	}
	return p.x.observer
}

func (p *Place) bed() Bed {
	if p.x == nil {
		return nil
	}
	return p.x.bed
}
