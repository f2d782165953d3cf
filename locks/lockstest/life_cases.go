package lockstest

import (
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
)

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
