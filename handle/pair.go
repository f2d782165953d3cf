package handle

import (
	"time"

	"github.com/orwl/go-orwl/resource"
)

// Pair is an access that recurs: two handles that alternate, one for this
// iteration and one that is in the queue for the next. Release requests again
// before it lets go, so that everybody who accesses a resource through a pair gets
// it in turn, for ever.
//
//	p.Request(r, resource.Write)
//	for !done {
//		p.Acquire(ctx)
//		...
//		p.Release()
//	}
//	p.Cancel()
//
// Which of the two is used is the parity of the iteration. One place in the queue
// is enough for both, since there is no moment at which both stand in it that
// anybody but the queue could see.
type Pair struct {
	Handle
	iteration uint64
}

// Request binds the pair to r, and announces the first access.
func (p *Pair) Request(r *resource.Resource, m resource.Mode) error {
	return p.begin(p.Handle.Request(r, m))
}

// RequestOrdered is [Handle.RequestOrdered] for the first access of the pair.
func (p *Pair) RequestOrdered(r *resource.Resource, m resource.Mode, order uint64) error {
	return p.begin(p.Handle.RequestOrdered(r, m, order))
}

// Announce is Request by somebody who wants to know what the announcements bring:
// all of them, until End or Cancel. See [Handle.Announce].
func (p *Pair) Announce(r *resource.Resource, m resource.Mode, now func() time.Time) error {
	return p.begin(p.Handle.Announce(r, m, now))
}

// begin counts from the first access on, unless that could not be requested.
func (p *Pair) begin(err error) error {
	if err == nil {
		p.iteration = 0
	}
	return err
}

// Release announces the next access and ends this one.
func (p *Pair) Release() error { return p.ReleaseBy(nil) }

// ReleaseBy is Release, with by for the hooks of the requests that this grants: see
// [resource.Hook].
func (p *Pair) ReleaseBy(by any) error {
	p.endLife()
	if err := p.place.RenewBy(by); err != nil {
		return err
	}
	p.iteration++
	if p.news != nil {
		return p.renewNews()
	}
	return nil
}

// End ends this access and announces none: the last one of a pair.
func (p *Pair) End() error { return p.EndBy(nil) }

// EndBy is to End what ReleaseBy is to Release.
func (p *Pair) EndBy(by any) error {
	p.endLife()
	if err := p.place.ReleaseBy(by); err != nil {
		return err
	}
	p.iteration++
	return nil
}

// Iteration counts the accesses that were released since Request.
func (p *Pair) Iteration() uint64 { return p.iteration }
