package resource

import (
	"context"
	"errors"
)

// Events are kinds of what an [Observer] is told.
type Events uint8

// The kinds: calls of Requested, of Waiting, of Acquired, and of Released.
const (
	Requests Events = 1 << iota
	Waits
	Acquisitions
	Releases
)

// Hear sets what o is told of from now on. Until then an observer is told of all
// events. Hear is for o itself, since each call costs time. If the place has other
// observers, it changes nothing.
func (p *Place) Hear(o Observer, what Events) {
	if p.observer() == o {
		p.x.hears = what
	}
}

// hears reports whether the observer asked for some event.
func (p *Place) hears(what Events) bool { return p.x != nil && p.x.hears&what != 0 }

// Releaser is the capability of an [Observer] to be told before a valid Release or
// Renew admits another request. A time taken there lies before any time that the next
// holder takes.
type Releaser interface {
	// Releasing comes before Release and Renew.
	Releasing(p *Place)
}

// Failer is the capability of an [Observer] to be told of an Acquire, a Release or a
// Renew that fails because the access, or the resource, has ended. It is not told of
// misuse, nor of the end of a context.
type Failer interface {
	// Failed comes before err is returned.
	Failed(p *Place, err error)
}

// FarGrants is the capability of an [Observer] to be told when the grant of a request,
// its bytes included, has come from the home on another node. The goroutine that
// delivers the grant makes the call, in the middle of its own work: the observer must
// not even look at the place.
type FarGrants interface {
	// GrantedFar comes before the place is woken.
	GrantedFar(p *Place)
}

// Arrivals is the capability of an [Observer] to be told of bytes that come ahead of
// the grant, or with it.
type Arrivals interface {
	// Arrived says how many bytes have come from the resource's home since a request
	// was made. It is called twice if bytes come before the grant and with it. The
	// goroutine that delivers the bytes calls it, at any time between Requested and
	// Acquired, even before Requested. It must not call the place.
	Arrived(p *Place, bytes int)
}

// Releasing tells all that are Releasers.
func (all Observers) Releasing(p *Place) {
	for _, o := range all {
		if r, ok := o.(Releaser); ok {
			r.Releasing(p)
		}
	}
}

// Failed tells all that are Failers.
func (all Observers) Failed(p *Place, err error) {
	for _, o := range all {
		if f, ok := o.(Failer); ok {
			f.Failed(p, err)
		}
	}
}

// GrantedFar tells all that are FarGrants.
func (all Observers) GrantedFar(p *Place) {
	for _, o := range all {
		if g, ok := o.(FarGrants); ok {
			g.GrantedFar(p)
		}
	}
}

// Arrived tells all that are Arrivals.
func (all Observers) Arrived(p *Place, bytes int) {
	for _, o := range all {
		if a, ok := o.(Arrivals); ok {
			a.Arrived(p, bytes)
		}
	}
}

// releasing tells that the place is about to release.
func (p *Place) releasing() {
	if r := p.x.releaser; r != nil {
		r.Releasing(p)
	}
}

// grantedFar tells that the grant has come.
func (p *Place) grantedFar() {
	if g, ok := p.observer().(FarGrants); ok {
		g.GrantedFar(p)
	}
}

// arrived tells of bytes that have come for a request.
func (p *Place) arrived(bytes int) {
	if a, ok := p.observer().(Arrivals); ok {
		a.Arrived(p, bytes)
	}
}

// failed is the error of op, which has failed, and tells the observer of it.
func (p *Place) failed(op string, err error) error {
	e := p.error(op, err)
	if f, ok := p.observer().(Failer); ok && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		f.Failed(p, e)
	}
	return e
}
