package lockstest

import (
	"context"
	"errors"

	"github.com/orwl/go-orwl/locks"
)

// If the context of an Acquire ends, it gives up where the lock's row says so. The
// other ranks go on as if it had not come.
var abortCases = []Case{
	{Name: "abort/done", Ranks: 2, act: abortDone},
	{Name: "abort/stays", Ranks: 2, needs: stays, act: abortStays},
	{Name: "abort/waiting", Ranks: 2, needs: givesUp, act: abortWaiting},
	{Name: "abort/again", Ranks: 3, needs: givesUp, act: abortAgain},
	{Name: "abort/middle", Ranks: 3, needs: givesUp, act: abortMiddle},
	{Name: "abort/all", Ranks: 3, needs: givesUp, act: abortAll},
	{Name: "abort/behind-readers", Ranks: 3, needs: func(s Subject) bool { return givesUp(s) && readerWriter(s) }, act: abortBehindReaders},
	{Name: "abort/at-grant", Ranks: 3, OneProcess: true, needs: givesUp, act: abortAtGrant},
	{Name: "abort/storm", Ranks: 3, OneProcess: true, needs: givesUp, act: abortStorm},
}

// abortDone acquires with a context that has already ended. Acquire does nothing and
// returns the context's error.
func abortDone(p *player) {
	done, cancel := context.WithCancel(p.ctx)
	cancel()
	for _, m := range p.modes() {
		for range 3 {
			p.scout.waits = func() {}
			if err := p.try(done, m); !errors.Is(err, context.Canceled) || errors.Is(err, locks.ErrBroken) {
				p.fail("acquiring for %s with a context that is done returned %v, want %v", m, err, context.Canceled)
			}
			if p.scout.waits == nil {
				p.fail("acquiring for %s with a context that is done waited", m)
			}
			p.scout.waits = nil
		}
		p.misused("releasing a lock that was not acquired", func() { p.release(m) })
	}
	p.works()
}

// abortStays ends the context of a waiter. The lock's row says that a waiter never
// gives up.
func abortStays(p *player) {
	const held, waits = 0, 1
	if p.me == 0 {
		p.acquire(write)
		p.enter(write)
		p.tell(held)
		p.hear(waits, p.ranks-1)
		p.leave(write)
		p.release(write)
	} else {
		p.hear(held, 1)
		ctx, cancel := context.WithCancel(p.ctx)
		defer cancel()
		p.scout.waits = func() { cancel(); p.tell(waits) }
		if err := p.try(ctx, write); err != nil {
			p.fail("Acquire gave up while it waited: %v; the lock's row says that it never does", err)
		}
		p.enter(write)
		p.leave(write)
		p.release(write)
	}
	p.works()
}

// holding lets one rank hold the lock while the others do something.
func (p *player) holding(m mode, others func()) {
	if p.me == 0 {
		p.acquire(m)
		p.enter(m)
	}
	p.meet()
	if p.me != 0 {
		others()
	}
	p.meet()
	if p.me == 0 {
		p.leave(m)
		p.release(m)
	}
}

// abortWaiting lets all waiters give up. Afterwards the lock works.
func abortWaiting(p *player) {
	for range 2 {
		p.holding(write, func() {
			for _, m := range p.modes() {
				p.giveUp(m)
				p.misused("releasing a lock after giving up", func() { p.release(m) })
			}
		})
		p.works()
	}
}

// abortAgain lets ranks give up several times and then wait for the lock. The holder
// releases the lock only then.
func abortAgain(p *player) {
	const waits = 0
	for round := range 2 {
		if p.me == 0 {
			p.acquire(write)
		}
		p.meet()
		if p.me == 0 {
			p.hear(waits, (round+1)*(p.ranks-1))
			p.release(write)
		} else {
			for i := range 3 + int(p.me) {
				p.giveUp(p.modes()[i%len(p.modes())])
			}
			p.acquireTelling(write, waits)
			p.enter(write)
			p.leave(write)
			p.release(write)
		}
		p.works()
	}
}

// abortMiddle lets a rank give up while others wait behind it.
func abortMiddle(p *player) {
	const waits, gone = 0, 1
	for quitter := 1; quitter < p.ranks; quitter++ {
		base := (quitter - 1) * p.ranks
		if p.me == 0 {
			p.acquire(write)
			p.tell(waits)
			p.hear(gone, quitter)
			p.release(write)
		} else {
			p.hear(waits, base+int(p.me))
			if int(p.me) == quitter {
				ctx, cancel := context.WithCancel(p.ctx)
				p.scout.waits = func() {
					p.tell(waits)
					p.hear(waits, base+p.ranks) // the others wait behind it
					cancel()
				}
				if err := p.try(ctx, write); !errors.Is(err, context.Canceled) {
					p.fail("acquiring with a context that ended returned %v, want %v", err, context.Canceled)
				}
				p.tell(gone)
			} else {
				p.acquireTelling(write, waits)
				p.enter(write)
				p.leave(write)
				p.release(write)
			}
		}
		p.works()
	}
}

// abortAll lets all waiters give up. After the holder's release the lock is free.
func abortAll(p *player) {
	for round := range 3 {
		p.holding(write, func() { p.giveUp(p.modes()[(round+int(p.me))%len(p.modes())]) })
		p.meet()
		if int(p.me) == round%p.ranks {
			p.section(write)
			if try, ok := p.lock.(locks.Tryer); ok && !try.TryAcquire() {
				p.fail("trying a free lock failed, after all waiters gave up")
			} else if ok {
				p.release(write)
			}
		}
		p.works()
	}
}

// abortBehindReaders lets writers give up while they wait for a reader to leave. Other
// readers and later writers go on.
func abortBehindReaders(p *player) {
	for range 2 {
		p.holding(read, func() {
			p.giveUp(write)
			p.acquire(read)
			p.release(read)
		})
		p.works()
	}
}

// abortAtGrant ends a waiter's context at about the time of the holder's release. Both
// outcomes are right, if waiter and lock agree on the outcome.
func abortAtGrant(p *player) {
	const held, waits = 0, 1
	for round := range 8 {
		switch p.me {
		case 0:
			p.acquire(write)
			p.enter(write)
			p.tell(held)
			p.hear(waits, round+1)
			p.leave(write)
			p.release(write)
		case 1:
			p.hear(held, round+1)
			ctx, cancel := context.WithCancel(p.ctx)
			p.shared.mu.Lock()
			p.shared.cancel[1] = cancel
			p.shared.mu.Unlock()
			p.scout.waits = func() { p.tell(waits) }
			m := p.modes()[round%len(p.modes())]
			switch err := p.try(ctx, m); {
			case err == nil:
				p.enter(m)
				p.leave(m)
				p.release(m)
			case !errors.Is(err, context.Canceled):
				p.fail("acquiring with a context that ended returned %v, want %v", err, context.Canceled)
			}
		case 2:
			p.hear(waits, round+1)
			p.shared.cancelOf(1)
		}
		p.works()
	}
}

// cancelOf ends the context with which a rank acquires.
func (s *shared) cancelOf(rank int) {
	s.mu.Lock()
	cancel := s.cancel[rank]
	s.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// abortStorm lets each rank end the next rank's context whenever it releases.
func abortStorm(p *player) {
	modes := p.modes()
	had := 0
	for i := 0; had < p.share(30); i++ {
		m := modes[i%len(modes)]
		ctx, cancel := context.WithCancel(p.ctx)
		p.shared.mu.Lock()
		p.shared.cancel[p.me] = cancel
		p.shared.mu.Unlock()
		switch err := p.try(ctx, m); {
		case err == nil:
			had++
			p.enter(m)
			p.leave(m)
			p.shared.cancelOf(int(p.after(1)))
			p.release(m)
		case !errors.Is(err, context.Canceled):
			p.fail("acquiring with a context that ended returned %v, want %v", err, context.Canceled)
		}
		cancel()
	}
	p.works()
}
