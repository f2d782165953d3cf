package lockstest

import (
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
)

// Misuse panics with a *locks.MisuseError and does not change the lock.
var misuseCases = []Case{
	{Name: "misuse/release", Ranks: 2, act: misuseRelease},
	{Name: "misuse/acquire", Ranks: 2, act: misuseAcquire},
	{Name: "misuse/mode", Ranks: 2, needs: readerWriter, act: misuseMode},
}

func misuseRelease(p *player) {
	if p.me == 0 {
		for _, m := range p.modes() {
			release := func() { p.release(m) }
			p.misused("releasing a free lock, after "+m.String()+",", release)
			p.acquire(m)
			p.release(m)
			p.misused("releasing a lock twice, after "+m.String()+",", release)
		}
	}
	p.meet()
	if p.me == 0 {
		p.acquire(write)
	}
	p.meet()
	if p.me != 0 {
		p.misused("releasing a lock that another rank holds", p.lock.Release)
	}
	p.meet()
	if p.me == 0 {
		p.release(write)
	}
	p.works()
}

func misuseAcquire(p *player) {
	if p.me == 0 {
		for _, m := range p.modes() {
			p.acquire(m)
			for _, again := range p.modes() {
				p.misused("acquiring for "+again.String()+" a lock that the rank holds for "+m.String(), func() { _ = p.try(p.ctx, again) })
			}
			if try, ok := p.lock.(locks.Tryer); ok {
				p.misused("trying a lock that the rank holds for "+m.String(), func() { try.TryAcquire() })
			}
			if try, ok := p.lock.(locks.ReadTryer); ok {
				p.misused("trying for reading a lock that the rank holds for "+m.String(), func() { try.TryAcquireRead() })
			}
			p.release(m)
		}
	}
	p.works()
}

func misuseMode(p *player) {
	if p.me == 0 {
		p.acquire(read)
		p.misused("releasing for writing a lock that the rank holds for reading", p.rw().Release)
		p.release(read)
		p.acquire(write)
		p.misused("releasing for reading a lock that the rank holds for writing", p.rw().ReleaseRead)
		p.release(write)
	}
	p.works()
}

// When the window fails, the lock is broken for good, and no rank gets it.
var lifeCases = []Case{
	{Name: "life/closed", Ranks: 3, OneProcess: true, act: lifeClosed},
	{Name: "life/closed-under-holder", Ranks: 2, OneProcess: true, act: lifeClosedUnderHolder},
}

// ended checks that every acquire and every try fails on a closed fabric, again and
// again.
func (p *player) ended() {
	for range 2 {
		for _, m := range p.modes() {
			err := p.try(p.ctx, m)
			if err == nil {
				p.fail("got the lock for %s after the fabric was closed", m)
			}
			p.check(isBroken(err, rma.ErrClosed))
			p.check(p.names(err))
		}
		if try, ok := p.lock.(locks.Tryer); ok && try.TryAcquire() {
			p.fail("trying succeeded after the fabric was closed")
		}
		if try, ok := p.lock.(locks.ReadTryer); ok && try.TryAcquireRead() {
			p.fail("trying for reading succeeded after the fabric was closed")
		}
	}
}

// lifeClosed closes the fabric while one rank holds the lock, one rank waits, and the
// others do not want the lock.
func lifeClosed(p *player) {
	const held, here, waits = 0, 1, 2
	switch p.me {
	case 0:
		p.acquire(write)
		p.tell(held)
		p.hear(here, p.ranks-2)
		p.hear(waits, 1)
		p.check(p.shared.close())
		p.misused("acquiring a lock that the rank still holds, after the fabric was closed,", func() { _ = p.try(p.ctx, write) })
		return
	case 1:
		p.hear(held, 1)
		p.scout.waits = func() { p.tell(waits) }
		err := p.try(p.ctx, write)
		p.scout.waits = nil
		if err == nil {
			p.fail("got the lock after the fabric was closed under its holder")
		}
		p.check(isBroken(err, rma.ErrClosed))
	default:
		p.tell(here)
		_, _ = p.Await(p.ctx, 0, p.at(0), rma.Is(1)) // until the end
	}
	p.ended()
}

// lifeClosedUnderHolder releases a lock on a closed fabric. The first release is no
// misuse. The second release is misuse.
func lifeClosedUnderHolder(p *player) {
	const here = 0
	modes := p.modes()
	m := modes[len(modes)-1]
	holds := p.me == 0 || m == read
	if holds {
		p.acquire(m)
	}
	p.tell(here)
	if p.me == 0 {
		p.hear(here, p.ranks)
		p.check(p.shared.close())
	} else {
		_, _ = p.Await(p.ctx, 0, p.at(0), rma.Is(1)) // until the end
	}
	if holds {
		p.release(m)
	}
	p.misused("releasing a broken lock that the rank does not hold", func() { p.release(m) })
	p.ended()
}

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
