package resource

import (
	"context"
	"fmt"

	"github.com/orwl/go-orwl/resource/internal/coherence"
)

// Places ask their mirror to do this: request, acquire, release, renew, cancel. The apart bit of
// the requested word sends them here. The state of such a place holds the ID of its request
// instead of a ticket.

// requestRemote is Request, and RequestOrdered if order is not 0. A place that has lost a
// write is told so first, and requests again.
func (p *Place) requestRemote(m Mode, order int) error {
	x := p.extra()
	if x.remote == nil {
		x.remote = new(remote)
	}
	if err := p.r.mirror.request(p, m, order); err != nil {
		return p.error("request", err)
	}
	p.tell(Requested)
	return nil
}

// request queues a place at the home.
func (f *mirror) request(p *Place, m Mode, order int) error {
	f.mu.Lock()
	defer f.unlock()
	if err := f.tell(p); err != nil {
		return err
	}
	if f.r.completed.Load()&broken == 0 { // else Acquire says so
		if err := f.join(); err != nil {
			return err
		}
		s := f.site.scratch()
		defer f.site.spare(s)
		if err := f.half.Request(f.last+1, m, order, p.x.remote, &s.work); err != nil {
			return err
		}
		f.do(s)
	}
	f.queue(p, m)
	return nil
}

// queue makes the place one that waits: the grant comes to its waiter.
func (f *mirror) queue(p *Place, m Mode) {
	f.last++
	w, q := p.waiter(&f.r.queue, m, nil), p.x.remote
	*q = remote{by: p, id: f.last, came: f.came, w: w}
	w.next = nil
	if f.r.completed.Load()&broken != 0 {
		q.err = f.r.brokenError()
	} else {
		w.word.Store(listed)
	}
	p.listed, p.notified = true, false
	p.state.Set(uint64(f.last)*oneWriter | modeBit(m) | requestedBit)
}

// acquireRemote makes the granted request of a place an access.
func (p *Place) acquireRemote(s uint64) error {
	f, q := p.r.mirror, p.x.remote
	f.mu.Lock()
	f.check()
	err := q.err
	if err == nil {
		q.inside = true
	} else if lost := f.tell(p); lost != nil {
		err = lost
	}
	f.unlock()
	if err != nil {
		return p.failed("acquire", err)
	}
	p.listed = false
	p.state.Set(s ^ phaseBits)
	p.tell(Acquired)
	return nil
}

// leaveRemote is Release, Renew and Abandon, if the home is elsewhere, and reports whether it
// is. If the access has ended early, it returns the reason. Then, and if the write of a Renew
// is lost, the place is idle.
func (p *Place) leaveRemote(s uint64, how leaving) (elsewhere bool, err error) {
	if s&heldBit == 0 {
		return false, p.error(how.String(), ErrNotHeld)
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
	if how != renews {
		p.state.Set(s & writeBit)
	}
	if err == nil && p.r.confirm {
		if err = p.Flush(context.Background()); err != nil && how == renews {
			p.cancelRemote(p.state.Load())
		}
	}
	if err != nil {
		p.state.Set(s & writeBit)
		return true, p.failed(how.String(), err)
	}
	p.ended(how)
	return true, nil
}

// leave ends an access, and reports whether it has ended. A sweep looks at a mirror that has
// retained a release, or has a write that the home does not confirm by itself, and asks.
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
	if x := p.x; a.Wrote && x.dirty != nil && x.dirty.Bytes() < len(f.r.buffer.Bytes()) {
		for r := range x.dirty.All() {
			a.Spans = append(a.Spans, coherence.Span(r))
		}
	}
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
		f.r.committed(p.x)
	} else if a.Abandoned {
		f.r.changes = nil
	}
	f.do(s)
	if a.Wrote || how == releases && f.half.Keeps() {
		f.site.keep(f)
	}
	if how == renews {
		f.queue(p, m)
	}
	return true, nil
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

// over returns the error of op if the place's access has ended early.
func (p *Place) over(op string) error {
	f := p.r.mirror
	f.mu.Lock()
	defer f.mu.Unlock()
	if p.x.remote.err != nil {
		return p.error(op, p.x.remote.err)
	}
	return nil
}

// holds reports whether a request is granted.
func (f *mirror) holds(id coherence.ID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.half.Holds(id)
}

// size is the size of the bytes once the request is granted, 0 before.
func (q *remote) size(f *mirror) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !q.granted || q.err != nil || f.r.completed.Load()&broken != 0 {
		return 0
	}
	return len(f.r.buffer.Bytes())
}

// here is how many bytes need not travel any more for the request, and how many have come
// since it was announced.
func (q *remote) here(f *mirror) (here, came int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case q.err != nil:
		return 0, 0
	case q.granted:
		return len(f.r.buffer.Bytes()), int(q.came)
	}
	if f.half.Here() {
		here = len(f.r.buffer.Bytes())
	}
	return here, int(f.came - q.came)
}

// held is the fence of the grant.
func (q *remote) held(f *mirror) uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return q.fence
}
