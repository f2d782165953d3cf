package handle

import (
	"time"

	"github.com/orwl/go-orwl/resource"
)

// Pair is an access that recurs: two handles that alternate. One serves this turn, and the
// other is in the queue for the next one. Next announces the next access before it
// releases this one, so all pairs of a resource get it in turn, for ever:
//
//	p.Request(r, resource.Write)
//	for !done {
//		p.Acquire(ctx)
//		...
//		p.Next()
//	}
//	p.Cancel()
//
// # The last turn
//
// After Next the pair has a request in the queue. When its turn comes, the queue waits for
// it, however long that takes. So a pair that stops after Next must Cancel. If the last
// turn is known, end it by Release instead: it announces nothing. A loop that can be left
// early takes care of both by
//
//	defer p.Abandon(reason)
//
// which takes a request back, abandons an access that is held, and changes nothing if the
// pair is idle.
//
// If a pair is dropped with a request, the requests behind it wait for ever. In a run of
// package orwl on one node, the report of a stall shows this: a task waits behind "a handle
// of no task".
// The accesses of a task cannot be dropped, because the runtime takes them back when the
// task ends.
//
// # Both handles in one
//
// The parity of the iteration tells which of the two handles is in use. One request in the
// queue is enough for both, because only the queue can see the moment at which both are
// in it.
type Pair struct {
	Handle
	iteration uint64
}

// Request binds the pair to r, and announces the first access.
func (p *Pair) Request(r *resource.Resource, m resource.Mode) error {
	return p.begin(p.Handle.Request(r, m))
}

// RequestOrdered is [Handle.RequestOrdered] for the first access of the pair.
func (p *Pair) RequestOrdered(r *resource.Resource, m resource.Mode, order int) error {
	return p.begin(p.Handle.RequestOrdered(r, m, order))
}

// Announce is Request with measurements for all accesses of the pair, until Release or
// Cancel: see [Handle.Announce].
func (p *Pair) Announce(r *resource.Resource, m resource.Mode, now func() time.Time) error {
	return p.begin(p.Handle.Announce(r, m, now))
}

// begin sets the iteration to 0 if the first access was requested.
func (p *Pair) begin(err error) error {
	if err == nil {
		p.iteration = 0
	}
	return err
}

// Next announces the next access and releases this one. No request that comes later gets
// ahead of the next access.
func (p *Pair) Next() error { return p.NextBy(nil) }

// NextBy is Next for a caller that names itself: the hooks of the requests that this
// release grants receive by. See [resource.Hook].
func (p *Pair) NextBy(by any) error {
	if p.more != nil {
		p.endLife()
	}
	if err := p.place.RenewBy(by); err != nil {
		return err
	}
	p.iteration++
	if p.more != nil {
		return p.renewNews()
	}
	return nil
}

// Release releases this access and announces none: the last turn of the pair.
func (p *Pair) Release() error { return p.ReleaseBy(nil) }

// ReleaseBy is Release for a caller that names itself: see NextBy.
func (p *Pair) ReleaseBy(by any) error {
	p.endLife()
	if err := p.place.ReleaseBy(by); err != nil {
		return err
	}
	p.iteration++
	return nil
}

// Iteration counts the accesses that were released since Request.
func (p *Pair) Iteration() uint64 { return p.iteration }
