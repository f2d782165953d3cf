package resource

import "github.com/orwl/go-orwl/resource/internal/coherence"

// The places of a resource that has its home elsewhere. The state of such a place holds
// the ID of its request instead of a ticket, and its operations go through the mirror. The
// apart bit of the requested word sends them here.

func idOf(state uint64) coherence.ID { return coherence.ID(state / oneWriter) }

func stateOf(id coherence.ID, m Mode) uint64 {
	return uint64(id)*oneWriter | modeBit(m) | requestedBit
}

// requestRemote is Request, and RequestOrdered if order is not 0.
func (p *Place) requestRemote(m Mode, order int) error {
	if err := p.r.mirror.request(p, m, order); err != nil {
		return p.error("request", err)
	}
	if p.hears(Requested) {
		p.tell(Requested)
	}
	return nil
}

// atMirror is the place's record at a mirror.
func (p *Place) atMirror() *remote {
	x := p.extra()
	if x.remote == nil {
		x.remote = new(remote)
	}
	return x.remote
}

// listRemote makes the place wait: the grant comes to its waiter.
func (p *Place) listRemote(m Mode, state uint32) *waiter {
	w := p.waiter()
	w.mode, w.next = m, nil
	w.state.Store(state)
	p.listed, p.notified = true, false
	return w
}

// acquireRemote ends the wait of a place whose waiter is granted.
func (p *Place) acquireRemote(s uint64) error {
	if err := p.r.mirror.enter(p); err != nil {
		return p.failed("acquire", err)
	}
	p.listed = false
	p.state.Set(s ^ phaseBits)
	if p.hears(Acquired) {
		p.tell(Acquired)
	}
	return nil
}

// releaseRemote is Release. If the access has ended early, it returns the reason, and the
// place is idle.
func (p *Place) releaseRemote(s uint64, abandoned bool) error {
	ended, err := p.r.mirror.release(p, p.access(s, abandoned))
	if !ended {
		return p.error("release", err)
	}
	p.state.Set(s & writeBit)
	p.endUse()
	if err == nil {
		err = p.confirmed()
	}
	if err != nil {
		return p.failed("release", err)
	}
	if p.hears(Released) {
		p.tell(Released)
	}
	return nil
}

// renewRemote is Renew: one message, and one round trip for each iteration of a pair. If
// the access has ended early, or its write is lost, the place is idle afterwards.
func (p *Place) renewRemote(s uint64) error {
	ended, err := p.r.mirror.renew(p, modeOf(s), p.access(s, false))
	if !ended {
		return p.error("renew", err)
	}
	p.endUse()
	if err == nil {
		if err = p.confirmed(); err != nil {
			p.cancelRemote(p.state.Load())
		}
	}
	if err != nil {
		p.state.Set(s & writeBit)
		return p.failed("renew", err)
	}
	if p.hears(Requested) {
		p.tell(Requested)
	}
	if p.hears(Released) {
		p.tell(Released)
	}
	return nil
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

// access describes the access that the place ends, for the mirror.
func (p *Place) access(s uint64, abandoned bool) coherence.Access {
	a := coherence.Access{ID: idOf(s), Wrote: p.wrote && !abandoned, Abandoned: abandoned}
	if x := p.x; a.Wrote && x != nil && x.dirty != nil && x.dirty.Bytes() < len(p.r.buffer.Bytes()) {
		for r := range x.dirty.All() {
			a.Spans = append(a.Spans, coherence.Span(r))
		}
	}
	return a
}

// endUse closes the place's view, and forgets what the place has written.
func (p *Place) endUse() {
	p.wrote = false
	if x := p.x; x != nil {
		if x.dirty != nil {
			x.dirty.Reset()
		}
		if x.view != nil {
			p.shut()
		}
	}
	if p.watches {
		p.unwatch()
	}
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
	if !q.granted || q.err != nil || f.isBroken() {
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
