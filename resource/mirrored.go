package resource

import (
	"fmt"
	"sync"
)

// mirrored is what makes a resource the mirror of one that has its home on another
// node: the mirror's half of the protocol, behind a mutex, and the places that wait
// at it or hold.
//
// Whoever is granted, or ended, is told when the mutex is free again, since what it
// is told by may be anything.
type mirrored struct {
	site *Site
	r    *Resource
	home Node

	mu     sync.Mutex
	mirror Mirror
	life   uint64 // counts how often it has rejoined
	last   ID     // of its requests
	away   error  // the home is not there, and why, until it is back
	epoch  uint64 // the home's
	came   uint64 // bytes, in all
	uses   int    // accesses that are over and not released: they may use the bytes
	ends   map[ID]error
	early  early
	fresh  bool // it has kept a release since the last sweep
	keeper bool // the next one will look at it

	writer     *Place     // of the last write that the home has not confirmed
	asking     *waiter    // for its answer, by next
	lostWrites *lostWrite // that somebody has not been told of

	wake  *waiter // to be granted, by next
	calls []call  // to be made
	fault error   // why the resource is to be broken
}

// call is a place that is told that it has lost what it holds.
type call struct {
	f   func(error)
	why error
}

// unlock lets go of the mutex. Then it wakes and calls those who are noted for that.
func (f *mirrored) unlock() {
	if f.mirror.Unconfirmed() == 0 {
		f.answered()
	}
	w, calls, fault := f.wake, f.calls, f.fault
	f.wake, f.calls, f.fault = nil, nil, nil
	if all := f.mirror.requests; all != nil && len(all) == 0 {
		// It takes more than all the rest, and most mirrors are idle.
		f.mirror.requests = nil
		f.site.requests.Put(all)
	}
	f.mu.Unlock()
	for w != nil {
		next := w.next
		w.grant(nil)
		w = next
	}
	for _, c := range calls {
		c.f(c.why)
	}
	if fault != nil {
		f.r.Break(fault)
	}
}

// request queues a place up at the home. A place that has lost a write is told so first,
// and requests again.
func (f *mirrored) request(p *Place, m Mode, order uint64) error {
	f.mu.Lock()
	defer f.unlock()
	if err := f.tell(p); err != nil {
		return err
	}
	id, state := f.last+1, uint32(listed)
	if f.isBroken() {
		state = granted // and Acquire says so
	} else {
		if err := f.join(); err != nil {
			return err
		}
		s := f.site.scratch()
		defer f.site.spare(s)
		if f.mirror.requests == nil {
			f.mirror.requests, _ = f.site.requests.Get().(map[ID]place)
		}
		var err error
		if s.out, err = f.mirror.Request(id, m, s.out); err != nil {
			return err
		}
		s.out[0].Order = order
		f.send(s)
	}
	f.queue(p, m, state)
	return nil
}

// queue makes the place one that waits.
func (f *mirrored) queue(p *Place, m Mode, state uint32) {
	f.last++
	w := p.listApart(m, state)
	if r, asked := f.mirror.requests[f.last]; asked {
		r.w, r.by, r.came = w, p, f.came
		f.mirror.requests[f.last] = r
	}
	p.state.Set(stateOf(f.last, m))
}

// enter makes a granted request of a place an access.
func (f *mirrored) enter(p *Place, id ID) error {
	f.mu.Lock()
	defer f.unlock()
	f.check()
	r, queued := f.mirror.requests[id]
	if !queued {
		if err := f.tell(p); err != nil {
			return err
		}
		return f.end(id)
	}
	r.in = true
	f.mirror.requests[id] = r
	return nil
}

// end is why a request or an access has ended before its time.
func (f *mirrored) end(id ID) error {
	if err := f.ends[id]; err != nil {
		return err
	}
	return fmt.Errorf("%w: %d", ErrNotQueued, id)
}

// release ends an access, and reports whether it has ended. A mirror with a write that
// the home does not confirm by itself is looked at by a sweep, which asks.
func (f *mirrored) release(p *Place, id ID, a Access) (ended bool, err error) {
	f.mu.Lock()
	defer f.unlock()
	f.check()
	r, queued := f.mirror.requests[id]
	if !queued {
		return true, f.collect(id)
	}
	s := f.site.scratch()
	defer f.site.spare(s)
	a.Fence = r.fence
	if s.out, err = f.mirror.Release(a, s.out); err != nil {
		return false, err
	}
	f.commit(p, a)
	f.send(s)
	if a.Wrote || f.mirror.Keeps() {
		f.site.keep(f)
	}
	return true, nil
}

// renew ends an access, after another one was requested.
func (f *mirrored) renew(p *Place, id ID, a Access) (ended bool, err error) {
	f.mu.Lock()
	defer f.unlock()
	f.check()
	r, queued := f.mirror.requests[id]
	if !queued {
		return true, f.collect(id)
	}
	s := f.site.scratch()
	defer f.site.spare(s)
	a.Fence = r.fence
	state := uint32(listed)
	if f.isBroken() {
		state = granted
		s.out, err = f.mirror.Release(a, s.out)
	} else {
		s.out, err = f.mirror.Renew(a, f.last+1, r.mode, s.out)
	}
	if err != nil {
		return false, err
	}
	f.commit(p, a)
	f.send(s)
	if a.Wrote {
		f.site.keep(f)
	}
	f.queue(p, r.mode, state)
	return true, nil
}

// collect is the end of an access that had ended before.
func (f *mirrored) collect(id ID) error {
	err := f.end(id)
	delete(f.ends, id)
	f.uses--
	return fmt.Errorf("%w: %w", ErrStale, err)
}

// commit notes what a place has written.
func (f *mirrored) commit(p *Place, a Access) {
	if c := f.r.changes; a.Wrote {
		f.writer = p
		f.r.ledger.version.Inc()
		if c != nil {
			c.note(f.r.ledger.version.Own(), p.x, len(f.r.bytes))
		}
	} else if a.Abandoned {
		f.r.changes = nil
	}
}

// cancel takes a request back, or releases it unused.
func (f *mirrored) cancel(id ID) {
	f.mu.Lock()
	defer f.unlock()
	r, queued := f.mirror.requests[id]
	if !queued {
		delete(f.ends, id)
		return
	}
	s := f.site.scratch()
	defer f.site.spare(s)
	if r.stage == holding {
		s.out, _ = f.mirror.Release(Access{ID: id, Fence: r.fence}, s.out)
	} else {
		s.out, _ = f.mirror.Cancel(id, s.out)
	}
	f.send(s)
}

// send sends what the mirror has to say.
func (f *mirrored) send(s *scratch) {
	for i := range s.out {
		f.site.send(f.home, &s.out[i], s, f.r.pages == nil)
	}
	s.said()
}

// deliver takes a message from the home.
func (f *mirrored) deliver(m *Message, s *scratch) error {
	f.mu.Lock()
	defer f.unlock()
	return f.early.inTurn(f.site, f.home, m, s, f.step)
}

func (f *mirrored) step(m *Message, s *scratch) error {
	if m.Whole {
		f.came += uint64(len(m.Bytes))
		if f.mirror.holders == 0 && f.uses == 0 {
			f.r.own() // nobody looks at the bytes
		}
	}
	var err error
	s.out, err = f.mirror.Step(m, s.out)
	f.send(s)
	if err == nil && m.Kind == PushMessage {
		f.pushed(len(m.Bytes))
	}
	if f.mirror.Over() != nil && m.Kind == RefusedMessage {
		if m.Reason == AnotherEpoch {
			f.epoch = m.Epoch
		}
		f.early.clear(f.site, f.home)
		return nil // it was for us, and said so
	}
	return err
}
