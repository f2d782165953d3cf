package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/internal/queue/coherence"
)

// The ways out. An access ends by Release, Renew or Abandon, a request by Cancel. Each has a
// part for a resource at home, and one for a resource with its home elsewhere, which goes
// through the mirror.

// Release ends the access and grants the next requests. A nil says that the access is over.
// A write on another node than the home is then under way, and is not committed yet: see
// Flush. The place is told if the write may be lost.
func (p *Place) Release() error { return p.leave(releases) }

// Renew requests the same again, and then releases: the step of a pair. No request that
// comes later gets ahead of the new one.
func (p *Place) Renew() error { return p.leave(renews) }

// leaving is how a place ends its access.
type leaving uint8

func (l leaving) String() string { return [...]string{"release", "renew", "abandon"}[l] }

// leave is Release or Renew.
func (p *Place) leave(how leaving) error {
	s, r, x := p.state.Load(), p.r, p.x
	if x != nil || s&heldBit == 0 || p.planned {
		if ended, err := p.leaveRemote(s, how); ended || err != nil {
			return err
		}
	}
	next, one := s&writeBit, uint64(oneReader)
	if next != 0 {
		one = oneWriter
	}
	p.commit(s)
	if how == renews {
		next |= r.request(one) | requestedBit
	}
	p.state.Set(next)
	if s&guardedBit != 0 {
		r.leave(s)
	} else {
		c := r.add(&r.completed, one)
		if r.stirs(c) {
			if r.settle(c, c); c&guarded != 0 {
				r.gone(s)
			}
		}
	}
	if x != nil || how == releases {
		p.ended(how)
	}
	return nil
}

// commit ends the use of the bytes, and commits what was written.
func (p *Place) commit(s uint64) {
	r, x := p.r, p.x
	if p.wrote {
		p.wrote = false
		r.ledger.Commit()
	} else if s&writeBit != 0 {
		r.ledger.Told()
	}
	if x != nil {
		p.endUse()
	}
}

// end completes a granted request. The request is a member of the guard if s has
// heldBit and guardedBit.
func (r *Resource) end(s uint64) {
	if s&(heldBit|guardedBit) == heldBit|guardedBit {
		r.leave(s)
		return
	}
	c := r.add(&r.completed, unit(modeOf(s)))
	if r.settle(c, c); c&guarded != 0 {
		r.gone(s)
	}
}

const (
	releases leaving = iota
	renews           // one message, and one round trip for each iteration of a pair
	abandons
)

// ended is what comes after an access of a place with extras has ended, and after a release.
func (p *Place) ended(how leaving) {
	if how == renews {
		p.tell(Requested)
	} else if p.w != nil {
		p.w.calm()
	}
	p.tell(Released)
}

// endUse closes the place's view, and forgets what the place has written.
func (p *Place) endUse() {
	p.wrote = false
	x := p.x
	if x == nil {
		return
	}
	if x.view != nil {
		p.shut()
	}
}

// leaveRemote is Release, Renew and Abandon, if the home is elsewhere, and reports whether it
// is. If the access has ended early, it returns the reason. Then the place is idle.
func (p *Place) leaveRemote(s uint64, how leaving) (elsewhere bool, err error) {
	if s&heldBit == 0 {
		return false, p.error(how.String(), ErrNotHeld)
	}
	if p.planned {
		return false, p.error(how.String(), ErrPlanned)
	}
	p.tell(Releasing)
	f := p.r.mirror
	if f == nil {
		return false, nil
	}
	ended, err := f.leave(p, how)
	if !ended {
		return true, p.error(how.String(), err)
	}
	p.endUse()
	if err != nil || how != renews {
		p.state.Set(s & writeBit)
	}
	if err != nil {
		return true, p.failed(how.String(), err)
	}
	p.ended(how)
	return true, nil
}

// leave ends an access, and reports whether it has ended. A sweep asks for a write that the home
// does not confirm by itself.
func (f *mirror) leave(p *Place, how leaving) (ended bool, err error) {
	f.mu.Lock()
	defer f.unlock()
	f.check()
	q := p.x.remote
	if q.err != nil {
		f.uses--
		return true, fmt.Errorf("%w: %w", ErrStale, q.err)
	}
	a := coherence.Access{ID: q.id, Fence: q.fence, Wrote: p.wrote && how != abandons, Abandoned: how == abandons}
	s := f.site.scratch()
	defer f.site.spare(s)
	m := modeOf(p.state.Load())
	if how == renews && f.r.completed.Load()&broken == 0 {
		err = f.half.Renew(a, f.last+1, m, q, &s.work)
	} else {
		err = f.half.Release(a, &s.work)
	}
	if err != nil {
		return false, err
	}
	if a.Wrote {
		f.writer = p
		f.r.ledger.Commit()
	}
	f.do(s)
	if a.Wrote {
		f.site.keep(f)
	}
	if how == renews {
		f.queue(p, m)
	}
	return true, nil
}

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
	case p.planned:
		p.quit(s, nil)
		return nil
	case p.r.mirror != nil:
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
		r.end(s) // it is granted
		return
	}
	p.leaveGhost()
}

// leaveGhost leaves the request in the queue as a ghost. The step that makes it due
// completes it.
func (p *Place) leaveGhost() {
	w, r := p.w, p.r
	p.w, p.listed = nil, false
	r.settle(w.word.Load(), r.load(&r.completed))
}

// giveUp makes the request a ghost, unless it is granted.
func (p *Place) giveUp() bool {
	p.r.point()
	gone := p.w.giveUp()
	p.r.saw(p.w.word.Load())
	return gone
}

// cancelRemote is Cancel of a request.
func (p *Place) cancelRemote(s uint64) {
	p.state.Set(s & writeBit)
	p.w.calm()
	p.r.mirror.cancel(p)
	// A goroutine may still be about to wake the waiter.
	if p.w.giveUp() {
		p.w = nil
	}
	p.listed = false
}

// cancel takes a request back, or releases it unused.
func (f *mirror) cancel(p *Place) {
	f.mu.Lock()
	defer f.unlock()
	q := p.x.remote
	if q.err != nil {
		return
	}
	s := f.site.scratch()
	defer f.site.spare(s)
	if q.granted {
		_ = f.half.Release(coherence.Access{ID: q.id, Fence: q.fence}, &s.work)
	} else {
		_ = f.half.Cancel(q.id, &s.work)
	}
	f.do(s)
}

// Abandon ends what the place does because its task has failed, for example by an error
// or a panic. reason is that failure. Abandon never waits, and commits nothing.
//
// It cancels a request. It releases an access that changed nothing: one for reading, or
// one for writing that called neither Writable nor Resize. [Place.Prior] tells the
// next holders of any other.
func (p *Place) Abandon(reason error) error {
	s := p.state.Load()
	switch {
	case s&requestedBit != 0:
		return p.Cancel()
	case s&heldBit == 0:
		return p.error("abandon", ErrNotHeld)
	case p.planned:
		p.quit(s, reason)
		return nil
	case !p.wrote:
		return p.Release()
	}
	if elsewhere, err := p.leaveRemote(s, abandons); elsewhere {
		return err
	}
	p.discard(reason)
	p.state.Set(s & writeBit)
	p.r.end(s)
	p.ended(abandons)
	return nil
}

// discard ends the use of the bytes after a failure.
func (p *Place) discard(reason error) {
	p.endUse()
	p.r.failed(reason)
}

// ErrUnfinished is the reason with which a section abandons its access when its body did not return.
var ErrUnfinished = errors.New("resource: the body of a section ended by a panic or by runtime.Goexit")

// Section is one access to r: it requests, waits, runs body while the place holds, and releases.
//
// If it cannot acquire, because ctx ends or the resource is broken, it takes the request back and returns the reason, so
// that the requests behind it do not wait for it. If body fails, it abandons the access: nothing that was written is
// committed. A body fails if it returns an error, panics or calls runtime.Goexit.
func Section(ctx context.Context, r *Resource, m Mode, body func(p *Place) error) (err error) {
	var p Place
	if err := p.Request(r, m); err != nil {
		return err
	}
	if err := p.Acquire(ctx); err != nil {
		return errors.Join(err, p.Cancel())
	}
	returned := false
	defer func() {
		switch {
		case !returned:
			_ = p.Abandon(ErrUnfinished) // the panic goes on
		case err != nil:
			err = errors.Join(err, p.Abandon(err))
		default:
			err = p.Release()
		}
	}()
	err = body(&p)
	returned = true
	return err
}

// Look is a section that reads. It returns an error that matches [ErrPoisoned], and does not call body, if the bytes may
// be half written.
func Look(ctx context.Context, r *Resource, body func(p *Place) error) error {
	return Section(ctx, r, Read, func(p *Place) error {
		if prior := p.Prior(); errors.Is(prior, ErrPoisoned) {
			return prior
		}
		return body(p)
	})
}
