package resource

// A request takes another way than the queue's counting words in two cases: its
// resource has its home elsewhere (far.go), or has it here and the home still gathers
// the first requests of all nodes (gather.go). Both cases mark the requested word as
// apart. Such a place is listed from the beginning. The grant finds the place by its
// waiter.

// RequestOrdered is Request, where order is one more than the position of this request
// among the first requests of a program, counted over all nodes. A home that expects
// these requests keeps them until it has all, and then queues them in that order,
// whatever the order in which they came; see [HomeAt]. Anywhere else it is Request.
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
	if p.hears(Requested) {
		p.tell(Requested)
	}
	return nil
}

// listApart makes the place wait; the grant comes to its waiter.
func (p *Place) listApart(m Mode, state uint32) *waiter {
	w := p.waiter()
	w.mode, w.next = m, nil
	w.state.Store(state)
	p.listed, p.notified = true, false
	return w
}

// grantedApart reports whether the request is granted or ended. An early request gets
// its ticket then, in the place and in s.
func (p *Place) grantedApart(s *uint64) bool {
	if p.w.state.Load() != granted {
		return false
	}
	if p.early {
		p.ticketed(s)
	}
	return true
}

// ticketed moves the ticket of a queued request from the waiter to a place that was
// early.
func (p *Place) ticketed(s *uint64) {
	p.early = false
	*s = p.w.ticket | *s&(requestedBit|writeBit)
	if p.w.stray == 0 {
		*s |= doorBit
	}
	p.state.Set(*s)
}

// sizeApart is Size of a place whose request took the other way.
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
