package handle

import (
	"errors"
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
// in it. A pair that announces more turns has one for each: see [Pair.Ahead].
type Pair struct {
	Handle
	iteration uint64
}

// Request binds the pair to r, and announces the first access. With [Pair.Ahead] it
// announces one turn more with each call.
func (p *Pair) Request(r *resource.Resource, m resource.Mode) error {
	return p.begin(r, m, func(h *Handle) error { return h.Request(r, m) })
}

// RequestOrdered is [Handle.RequestOrdered] for the first access of the pair.
func (p *Pair) RequestOrdered(r *resource.Resource, m resource.Mode, order int) error {
	return p.begin(r, m, func(h *Handle) error { return h.RequestOrdered(r, m, order) })
}

// Announce is Request with measurements for all accesses of the pair, until Release or
// Cancel: see [Handle.Announce].
func (p *Pair) Announce(r *resource.Resource, m resource.Mode, now func() time.Time) error {
	return p.begin(r, m, func(h *Handle) error { return h.Announce(r, m, now) })
}

// begin makes a first request. It sets the iteration to 0 if it succeeds.
func (p *Pair) begin(r *resource.Resource, m resource.Mode, request func(h *Handle) error) error {
	h, err := p.opens(r, m)
	if err != nil {
		return err
	}
	if err := request(h); err != nil {
		return err
	}
	p.iteration = 0
	if t := p.turns(); t != nil {
		t.first++
	}
	return nil
}

// Next announces the next access and releases this one. No request that comes later gets
// ahead of the next access.
func (p *Pair) Next() error { return p.NextBy(nil) }

// NextBy is Next for a caller that names itself: the hooks of the requests that this
// release grants receive by. See [resource.Hook].
func (p *Pair) NextBy(by any) error {
	h := &p.Handle
	if p.more != nil {
		h = p.turn()
		h.endLife()
	}
	if err := h.place.RenewBy(by); err != nil {
		return err
	}
	p.iteration++
	if p.more != nil {
		return p.renewMore()
	}
	return nil
}

// renewMore goes on to the next turn of a pair with more.
func (p *Pair) renewMore() error {
	h := p.turn()
	if t := p.turns(); t != nil {
		t.advance()
	}
	if h.more != nil && h.more.news != nil {
		return h.renewNews()
	}
	return nil
}

// Release releases this access and announces none: the last turn of the pair. It takes back
// the turns that are announced ahead.
func (p *Pair) Release() error { return p.ReleaseBy(nil) }

// ReleaseBy is Release for a caller that names itself: see NextBy.
func (p *Pair) ReleaseBy(by any) error {
	if p.turns() == nil || !p.turn().place.Held() {
		return p.DrainBy(by)
	}
	return errors.Join(p.withdraw(), p.DrainBy(by))
}

// Drain releases this access and announces none. The turns that are announced ahead stay:
// the last Depth()+1 turns of a pair that knows their number end so. Without [Pair.Ahead] it
// is Release.
func (p *Pair) Drain() error { return p.DrainBy(nil) }

// DrainBy is Drain for a caller that names itself: see NextBy.
func (p *Pair) DrainBy(by any) error {
	h := p.turn()
	h.endLife()
	if err := h.place.ReleaseBy(by); err != nil {
		return err
	}
	p.iteration++
	if t := p.turns(); t != nil {
		t.advance()
	}
	return nil
}

// Iteration counts the accesses that were released since Request.
func (p *Pair) Iteration() uint64 { return p.iteration }
