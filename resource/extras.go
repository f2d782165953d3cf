package resource

// extras is what few places have, or what they need only once.
type extras struct {
	bed      Bed
	observer Observer
	witness  Witness  // the observer, if it is one
	dirty    *Ranges  // what the place has named since it was granted
	view     *mapping // of a resource with guard pages
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
	// Waiting comes before an Acquire that stops its goroutine, once. If the context
	// ends first, no Acquired follows.
	Waiting(p *Place)
}

// Witness is an Observer that looks more closely: it is told also of what most need
// not know, and what takes time to tell.
type Witness interface {
	Observer
	// Releasing comes before Release and Renew, of a place that holds.
	Releasing(p *Place)
	// Arrived says that so many bytes have come from the resource's home since a
	// request was made, with its grant or before; then it is called twice. It is called by
	// who brings them, at any time between Requested and Acquired, even before Requested
	// is, and must not call the place.
	Arrived(p *Place, bytes int)
}

// Observers are several as one.
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

// Releasing tells those who are witnesses.
func (all Observers) Releasing(p *Place) {
	for _, o := range all {
		if w, ok := o.(Witness); ok {
			w.Releasing(p)
		}
	}
}

// Arrived tells those who are witnesses.
func (all Observers) Arrived(p *Place, bytes int) {
	for _, o := range all {
		if w, ok := o.(Witness); ok {
			w.Arrived(p, bytes)
		}
	}
}

// Sleep makes the place wait in a bed other than its own. It is called before the
// first request.
func (p *Place) Sleep(in Bed) { p.extra().bed = in }

// Observe makes an observer the one that is told. It is called while the place is
// idle; nil ends it.
func (p *Place) Observe(o Observer) {
	x := p.extra()
	x.observer = o
	x.witness, _ = o.(Witness)
}

func (p *Place) extra() *extras {
	if p.x == nil {
		p.x = new(extras)
	}
	return p.x
}

// waits tells that Acquire is going to wait.
func (p *Place) waits() {
	if o := p.observer(); o != nil {
		o.Waiting(p)
	}
}

// releasing tells that the place is about to release.
func (p *Place) releasing() {
	if x := p.x; x != nil && x.witness != nil {
		x.witness.Releasing(p)
	}
}

// arrived tells of bytes that have come for a request.
func (p *Place) arrived(bytes int) {
	if x := p.x; x != nil && x.witness != nil {
		x.witness.Arrived(p, bytes)
	}
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
