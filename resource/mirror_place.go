package resource

import (
	"fmt"

	"github.com/orwl/go-orwl/resource/internal/coherence"
)

// What places ask of their mirror: request, acquire, release, renew, cancel.

// request queues a place at the home. A place that has lost a write is told so first,
// and requests again.
func (f *mirror) request(p *Place, m Mode, order int) error {
	f.mu.Lock()
	defer f.unlock()
	if err := f.tell(p); err != nil {
		return err
	}
	if f.isBroken() {
		f.queue(p, m, granted) // and Acquire says so
		return nil
	}
	if err := f.join(); err != nil {
		return err
	}
	s := f.site.scratch()
	defer f.site.spare(s)
	if err := f.half.Request(f.last+1, m, order, p.atMirror(), &s.work); err != nil {
		return err
	}
	f.do(s)
	f.queue(p, m, listed)
	return nil
}

// queue makes the place one that waits.
func (f *mirror) queue(p *Place, m Mode, state uint32) {
	f.last++
	q := p.atMirror()
	*q = remote{by: p, id: f.last, came: f.came, w: p.listRemote(m, state)}
	if state == granted {
		q.err = f.r.brokenError()
	}
	p.state.Set(stateOf(f.last, m))
}

// enter makes a granted request of a place an access.
func (f *mirror) enter(p *Place) error {
	f.mu.Lock()
	defer f.unlock()
	f.check()
	if p.x.remote.err != nil {
		if err := f.tell(p); err != nil {
			return err
		}
		return p.x.remote.err
	}
	p.x.remote.inside = true
	return nil
}

// release ends an access, and reports whether it has ended. A sweep looks at a mirror with
// a write that the home does not confirm by itself, and asks.
func (f *mirror) release(p *Place, a coherence.Access) (ended bool, err error) {
	f.mu.Lock()
	defer f.unlock()
	f.check()
	if p.x.remote.err != nil {
		return true, f.collect(p)
	}
	s := f.site.scratch()
	defer f.site.spare(s)
	a.Fence = p.x.remote.fence
	if err := f.half.Release(a, &s.work); err != nil {
		return false, err
	}
	f.commit(p, a)
	f.do(s)
	if a.Wrote || f.half.Keeps() {
		f.site.keep(f)
	}
	return true, nil
}

// renew ends an access, after another one was requested.
func (f *mirror) renew(p *Place, m Mode, a coherence.Access) (ended bool, err error) {
	f.mu.Lock()
	defer f.unlock()
	f.check()
	if p.x.remote.err != nil {
		return true, f.collect(p)
	}
	s := f.site.scratch()
	defer f.site.spare(s)
	a.Fence = p.x.remote.fence
	state := uint32(listed)
	if f.isBroken() {
		state = granted
		err = f.half.Release(a, &s.work)
	} else {
		err = f.half.Renew(a, f.last+1, m, p.x.remote, &s.work)
	}
	if err != nil {
		return false, err
	}
	f.commit(p, a)
	f.do(s)
	if a.Wrote {
		f.site.keep(f)
	}
	f.queue(p, m, state)
	return true, nil
}

// collect is the end of an access that had ended before.
func (f *mirror) collect(p *Place) error {
	f.uses--
	return fmt.Errorf("%w: %w", ErrStale, p.x.remote.err)
}

// commit notes what a place has written.
func (f *mirror) commit(p *Place, a coherence.Access) {
	if c := f.r.changes; a.Wrote {
		f.writer = p
		f.r.ledger.Count()
		if c != nil {
			c.note(f.r.ledger.Version(), p.x, len(f.r.buffer.Bytes()))
		}
	} else if a.Abandoned {
		f.r.changes = nil
	}
}

// cancel takes a request back, or releases it unused.
func (f *mirror) cancel(p *Place) {
	f.mu.Lock()
	defer f.unlock()
	if p.x.remote.err != nil {
		return
	}
	s := f.site.scratch()
	defer f.site.spare(s)
	if p.x.remote.granted {
		_ = f.half.Release(coherence.Access{ID: p.x.remote.id, Fence: p.x.remote.fence}, &s.work)
	} else {
		_ = f.half.Cancel(p.x.remote.id, &s.work)
	}
	f.do(s)
}
