package queue

import (
	"context"
	"errors"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/locks"
)

// How accesses come in by the guard and go out. Ordered ones enter when the queue has granted
// them, and the last one that leaves keeps the lock for the queue or gives it up. Relaxed ones
// take the other side of the lock.

// enter makes the place, which the FIFO has granted, a member of the guard. If it
// fails, the place is no member, and its waiter may still be in a list of the guard.
// waited says that the observer knows of the wait already.
func (p *Place) enter(ctx context.Context, s uint64, waited bool) error {
	if p.inside {
		p.inside = false
		return nil
	}
	r, g := p.r, p.r.guard.Load()
	for {
		// The waiter may still be in a list of the guard. It is the place's own again
		// once the guard has taken it out, which happens when the awaited state ends.
		if p.lined {
			if !waited {
				waited = true
				if err := p.Waits(ctx); err != nil {
					return err
				}
			}
			if err := p.w.sleep(ctx); err != nil {
				return err
			}
			p.lined = false
		}
		if r.load(&r.completed)&broken != 0 {
			return r.brokenError()
		}
		v := g.load()
		if v&busy != 0 {
			p.lined = true
			w := p.waiter(nil, modeOf(s), nil)
			w.lieDown(p.bed())
			g.line(w, busy, busy)
			continue
		}
		if !waited && !g.fits(v, modeOf(s)) {
			waited = true
			if err := p.Waits(ctx); err != nil {
				return err
			}
		}
		in, err := g.admit(ctx, v, modeOf(s))
		if in {
			r.entered(s)
		}
		if in || err != nil {
			return err
		}
	}
}

// tryEnter is enter without waiting.
func (p *Place) tryEnter(s uint64) bool {
	if p.inside {
		return true
	}
	if p.lined {
		if p.w.state() != granted {
			return false
		}
		p.lined = false
	}
	g := p.r.guard.Load()
	for v := g.load(); v&busy == 0; v = g.load() {
		in, tried := g.tryAdmit(v, modeOf(s))
		if in {
			p.inside = true
			p.r.entered(s)
			return true
		}
		if tried {
			return false
		}
	}
	return false
}

// entered accounts for a stray that has entered.
func (r *Resource) entered(s uint64) {
	g := r.guard.Load()
	switch {
	case modeOf(s) == Write:
		g.drained() // all before it have completed
	case s&guardedBit == 0:
		g.account(1)
	}
}

// gone accounts for a request that has completed outside of the guard.
func (r *Resource) gone(s uint64) {
	switch {
	case s&guardedBit != 0:
	case modeOf(s) == Write:
		r.guard.Load().drained() // all before it have completed, and all after it enter
	default:
		r.guard.Load().account(1)
	}
}

// leave completes a request of a member.
func (r *Resource) leave(s uint64) {
	g := r.guard.Load()
	last := g.leave()
	c := r.add(&r.completed, unit(modeOf(s)))
	woken := r.settle(c, c)
	if last {
		g.decide(woken)
	}
}

// withdrawInside cancels a request that the FIFO has granted and that has come to the
// guard.
func (p *Place) withdrawInside(s uint64) {
	p.listed = false // it was granted, or would not be here
	if p.inside {
		p.inside = false
		p.r.leave(s)
		return
	}
	if p.w.giveUp() {
		p.w = nil
		p.r.guard.Load().wake() // so that ghosts do not pile up
	}
	p.lined = false
	p.r.end(s)
}

// leave undoes join. It reports whether the caller must call decide after it has
// completed the request.
func (g *guard) leave() (last bool) {
	for {
		v := g.load()
		n := v - oneMember
		last = n&(memberMask|stray) == 0 && v&relaxedMask != 0
		if last {
			n |= passing
		}
		if g.cas(v, n) {
			return last
		}
	}
}

// decide keeps or gives up a lock that leave marked as passing. woken is the number of
// requests that the last member woke.
func (g *guard) decide(woken int) {
	for {
		v := g.load()
		if v&passing == 0 {
			return // a member has entered
		}
		keep := woken > 0 && v&modeMask != reading && run(v) < g.tl
		if keep && g.r.completed.Load()&broken == 0 {
			return // and a woken one will
		}
		if v&relaxedMask != 0 {
			if g.giveUp(v) {
				return
			}
		} else if g.cas(v, v&^passing) {
			return
		}
	}
}

// revoke gives up the lock for a waiting relaxed access, if nothing inside needs it.
func (g *guard) revoke() {
	for {
		v := g.load()
		if v&(memberMask|stray|passing|busy) != 0 || v&modeMask == unowned || g.giveUp(v) {
			return
		}
	}
}

// abandon gives up what is left when the resource is broken: no member enters any more.
func (g *guard) abandon() {
	g.and(^uint64(passing))
	g.revoke()
	g.wake()
}

// giveUp gives up the lock if the word is still v. In v there is no member inside.
func (g *guard) giveUp(v uint64) bool {
	invariant.Check(v&(memberMask|stray|busy) == 0, "the guard of %q is given up while it is %#x", g.r.name, v)
	if v&modeMask == opening {
		if !g.cas(v, v&relaxedMask) {
			return false
		}
		g.wake()
		return true
	}
	if !g.cas(v, (v|busy)&^passing) {
		return false
	}
	g.leaveOrdered(v & modeMask)
	g.and(relaxedMask) // ends busy
	g.wake()
	return true
}

// enterRelaxed waits for the guard's relaxed side. It first tries the lock without announcing
// itself: a reader that does not meet the FIFO then changes no word of the guard.
func (r *Resource) enterRelaxed(ctx context.Context, m Mode, number uint64) (*guard, error) {
	g, err := r.guarding()
	if err != nil {
		return nil, err
	}
	if r.load(&r.completed)&broken != 0 {
		return nil, r.brokenError()
	}
	k := g.locks.Relaxed
	if g.load()&modeMask == opening || !(m == Write && k.TryLock() || m == Read && k.TryRLock()) {
		r.tellRelaxed(RelaxedWaiting, number, m, nil)
		r.add(&g.word, oneRelaxed)
		g.revoke()
		if err = g.first(ctx); err != nil {
		} else if m == Write {
			err = k.LockContext(ctx)
		} else {
			err = k.RLockContext(ctx)
		}
		r.add(&g.word, ^uint64(oneRelaxed-1))
	}
	switch {
	case errors.Is(err, locks.ErrBroken):
		r.Break(err)
		return nil, r.brokenError()
	case err != nil:
		return nil, err
	case r.load(&r.completed)&broken == 0:
		return g, nil
	case m == Write:
		k.Unlock()
	default:
		k.RUnlock()
	}
	return nil, r.brokenError()
}

// first waits while the FIFO owns the guard without having taken the lock (opening).
func (g *guard) first(ctx context.Context) error {
	r := g.r
	for g.load()&modeMask == opening {
		if r.load(&r.completed)&broken != 0 {
			return r.brokenError()
		}
		bed := Bed(nil)
		if in := r.relaxed.state().in; in != nil {
			bed = in()
		}
		w := newWaiter(bed)
		g.line(w, modeMask, opening)
		if err := w.sleep(ctx); err != nil {
			if w.giveUp() {
				g.wake() // so that ghosts do not pile up
			}
			return err
		}
	}
	return nil
}
