package resource

// extras is what few places have, or what they need only once.
type extras struct {
	bed      Bed
	observer Observer
	dirty    *Ranges  // what the place has named since it was granted
	view     *mapping // of a resource with guard pages
}

// Observer is told what places do, by the goroutine that does it, after it is
// done. It must not use the place.
type Observer interface {
	// Requested comes after Request and Renew, Acquired after Acquire, Released
	// after Release and Renew, Cancelled after Cancel.
	Requested(p *Place)
	Acquired(p *Place, slept bool)
	Released(p *Place)
	Cancelled(p *Place)
}

// Sleep makes the place wait in a bed other than its own. It is called before the
// first request.
func (p *Place) Sleep(in Bed) { p.extra().bed = in }

// Observe makes an observer the one that is told. It is called while the place is
// idle; nil ends it.
func (p *Place) Observe(o Observer) { p.extra().observer = o }

func (p *Place) extra() *extras {
	if p.x == nil {
		p.x = new(extras)
	}
	return p.x
}

// observer is nil if nobody observes.
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
