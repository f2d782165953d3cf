package resource

// A request goes another way than through the queue's counting words if its
// resource has its home elsewhere (far.go), or has it here and waits for the first
// requests of all nodes (gather.go). Both mark the word of requests as apart. The
// place then waits listed from the beginning, and whoever grants it knows it by its
// waiter.

// RequestOrdered is Request, where order is one more than the place of this request
// among the first requests of a program, all nodes together. A home that expects
// them queues them up in that order when it has all, whatever the order in which
// they come; see [HomeAt]. Anywhere else it is Request.
func (p *Place) RequestOrdered(r *Resource, m Mode, order uint64) error {
	if p.state.Load()&phaseBits != 0 || m > Write || r.requested.Load()&apart == 0 {
		return p.Request(r, m)
	}
	if p.r != r {
		p.r, p.far = r, false
	}
	return p.requestApart(m, order)
}

func (p *Place) requestApart(m Mode, order uint64) error {
	r := p.r
	if r.mirrored != nil {
		p.far = true
		if err := r.mirrored.request(p, m, order); err != nil {
			return p.error("request", err)
		}
	} else if !r.home.keep(p, m, order) {
		return p.Request(r, m)
	}
	if p.hears(Requests) {
		p.x.observer.Requested(p)
	}
	return nil
}

// listApart makes the place one that waits, known by its waiter.
func (p *Place) listApart(m Mode, state uint32) *waiter {
	w := p.waiter()
	w.mode, w.next = m, nil
	w.begin(state)
	p.listed, p.notified = true, false
	return w
}

// grantedApart reports whether somebody has granted the request, or ended it. One
// that was early has its ticket now, and s with it.
func (p *Place) grantedApart(s *uint64) bool {
	if p.w.state.Load() != granted {
		return false
	}
	if p.early {
		p.ticketed(s)
	}
	return true
}

// ticketed makes a place that was early one that has queued up.
func (p *Place) ticketed(s *uint64) {
	p.early = false
	*s = p.w.ticket | *s&(requestedBit|writeBit)
	if p.w.stray == 0 {
		*s |= doorBit
	}
	p.set(*s)
}

// sizeApart is Size of a place that has requested.
func (p *Place) sizeApart() int {
	s := p.state.Load()
	switch {
	case !p.grantedApart(&s):
		return 0
	case !p.far:
		return p.Size()
	}
	return p.r.mirrored.size(idOf(s))
}
