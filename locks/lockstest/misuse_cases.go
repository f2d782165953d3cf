package lockstest

import (
	"github.com/orwl/go-orwl/locks"
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
