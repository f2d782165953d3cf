package lockstest

import (
	"github.com/orwl/go-orwl/locks"
)

// TryAcquire takes a free lock. Otherwise it does nothing.
var tryCases = []Case{
	{Name: "try/free", Ranks: 2, act: tryFree},
	{Name: "try/held", Ranks: 3, act: tryHeld},
	{Name: "try/readers", Ranks: 3, needs: readerWriter, act: tryReaders},
	{Name: "try/contended", Ranks: 3, act: tryContended},
}

// tryAcquire calls TryAcquire or TryAcquireRead. The call must not wait.
func (p *player) tryAcquire(m mode) bool {
	p.scout.waits = func() {}
	had := p.tryAmong(m)
	if p.scout.waits == nil {
		p.fail("trying for %s waited", m)
	}
	p.scout.waits = nil
	return had
}

// tryAmong does the same while other ranks acquire and release. The call may wait, as
// every release may: another rank may have queued up behind it and not have announced
// itself yet.
func (p *player) tryAmong(m mode) bool {
	had := false
	if m == read {
		try, ok := p.lock.(locks.ReadTryer)
		if !ok {
			p.skip("has no TryAcquireRead")
		}
		had = try.TryAcquireRead()
	} else {
		try, ok := p.lock.(locks.Tryer)
		if !ok {
			p.skip("has no TryAcquire")
		}
		had = try.TryAcquire()
	}
	return had
}

// tryModes are the modes in which the lock can be tried.
func (p *player) tryModes() (modes []mode) {
	if _, ok := p.lock.(locks.Tryer); ok {
		modes = append(modes, write)
	}
	if _, ok := p.lock.(locks.ReadTryer); ok {
		modes = append(modes, read)
	}
	if modes == nil {
		p.skip("cannot be tried")
	}
	return modes
}

// tryFree lets ranks take turns with a free lock.
func tryFree(p *player) {
	modes := p.tryModes()
	for round := range 3 {
		turn := round*p.ranks + int(p.me)
		p.hear(0, turn)
		for _, m := range modes {
			if !p.tryAcquire(m) {
				p.fail("trying a free lock for %s failed", m)
			}
			p.enter(m)
			p.leave(m)
			p.release(m)
		}
		p.section(write)
		p.tell(0)
	}
}

// tryHeld tries a lock that another rank holds. The try fails. Afterwards the lock
// works.
func tryHeld(p *player) {
	modes := p.tryModes()
	for _, m := range p.modes() {
		for round := range 2 {
			holder := round % p.ranks
			if int(p.me) == holder {
				p.acquire(m)
			}
			p.meet()
			if int(p.me) != holder {
				for _, mine := range modes {
					if m == write || mine == write {
						if p.tryAcquire(mine) {
							p.fail("got the lock for %s while rank %d holds it for %s", mine, holder, m)
						}
					}
				}
			}
			p.meet()
			if int(p.me) == holder {
				p.release(m)
			}
			p.works()
		}
	}
}

// tryReaders tries for reading beside a reader.
func tryReaders(p *player) {
	if _, ok := p.lock.(locks.ReadTryer); !ok {
		p.skip("has no TryAcquireRead")
	}
	const turn = 0
	if p.me == 0 {
		p.acquire(read)
		p.tell(turn)
		p.hear(turn, p.ranks)
		p.release(read)
	} else {
		p.hear(turn, int(p.me))
		if !p.tryAcquire(read) {
			p.fail("trying for reading failed beside a single reader")
		}
		p.release(read)
		p.tell(turn)
	}
	p.works()
}

// tryContended mixes acquiring and trying, in all modes.
func tryContended(p *player) {
	modes := p.tryModes()
	for i := range p.share(60) {
		m := modes[i%len(modes)]
		if (i+int(p.me))%3 == 0 {
			p.section(p.modes()[i%len(p.modes())])
			continue
		}
		if p.tryAmong(m) {
			p.enter(m)
			p.leave(m)
			p.release(m)
		}
	}
	p.works()
	if p.me == 0 && !p.tryAcquire(modes[0]) {
		p.fail("trying a lock that is free again failed")
	}
}
