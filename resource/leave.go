package resource

// Release ends the access and grants the next requests. A nil says that the access is over.
// A write on another node than the home is then under way, and is not committed yet: see
// Flush and Options.Confirm. The place is told if the write may be lost.
func (p *Place) Release() error { return p.ReleaseBy(nil) }

// ReleaseBy is Release with a value for the hooks of the requests that it grants: see
// [Hook].
func (p *Place) ReleaseBy(by any) (err error) {
	_, err = endAll([]*Place{p}, releases, by)
	return err
}

// Renew requests the same again, and then releases: the step of a pair. No request that
// comes later gets ahead of the new one.
func (p *Place) Renew() error { return p.RenewBy(nil) }

// RenewBy is to Renew what ReleaseBy is to Release.
func (p *Place) RenewBy(by any) (err error) {
	_, err = endAll([]*Place{p}, renews, by)
	return err
}

// RenewAll is RenewBy for several places, in their order. It returns how many it has renewed.
// If one fails, it leaves those behind it as they are.
func RenewAll(places []*Place, by any) (n int, err error) { return endAll(places, renews, by) }

// leaving is how a place ends its access.
type leaving uint8

const (
	releases leaving = iota
	renews           // one message, and one round trip for each iteration of a pair
	abandons
)

func (l leaving) String() string { return [...]string{"release", "renew", "abandon"}[l] }

// endAll is Release or Renew of several places.
func endAll(places []*Place, how leaving, by any) (n int, err error) {
	for n, p := range places {
		s, r, x := p.state.Load(), p.r, p.x
		if x != nil || s&heldBit == 0 {
			if ended, err := p.leaveRemote(s, how); err != nil {
				return n, err
			} else if ended {
				continue
			}
		}
		next, one := s&writeBit, unit(modeOf(s))
		if p.wrote {
			p.wrote = false
			r.committed(x)
		} else if next != 0 {
			r.ledger.Told()
		}
		if x != nil {
			p.endUse()
		}
		if how == renews {
			next |= r.request(one) | requestedBit
		}
		p.state.Set(next)
		if s&doorBit != 0 {
			r.leave(s, by)
		} else {
			c := r.add(&r.completed, one)
			if r.stirs(c) {
				if r.settle(c, c, by); c&guarded != 0 {
					r.gone(s)
				}
			}
		}
		if x != nil || how == releases {
			p.ended(how)
		}
	}
	return len(places), nil
}

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
	if x.dirty != nil {
		x.dirty.Reset()
	}
	if x.view != nil {
		p.shut()
	}
	if x.watches {
		p.unwatch()
	}
}
