package resource

import "github.com/orwl/go-orwl/internal/invariant"

// leave is the opposite of join. It reports whether decide has to be called when
// the request is completed.
func (g *guard) leave() (last bool) {
	for {
		v := g.load()
		n := v - oneMember
		last = n&(memberMask|stray) == 0 && v&knockMask != 0
		if last {
			n |= passing
		}
		if g.cas(v, n) {
			return last
		}
	}
}

// decide keeps or gives up the lock that was left as passing, by somebody who has
// then woken so many.
func (g *guard) decide(woken int) {
	for {
		v := g.load()
		if v&passing == 0 {
			return // somebody has come in
		}
		keep := woken > 0 && v&modeMask != reading && run(v) < g.tl
		if keep && g.r.completed.Load()&broken == 0 {
			return // and somebody will
		}
		if v&knockMask != 0 {
			if g.giveUp(v) {
				return
			}
		} else if g.cas(v, v&^passing) {
			return
		}
	}
}

// revoke gives up the lock if the FIFO owns it for nobody, because somebody knocks.
func (g *guard) revoke() {
	for {
		v := g.load()
		if v&(memberMask|stray|passing|busy) != 0 || v&modeMask == unowned || g.giveUp(v) {
			return
		}
	}
}

// abandon is what is left to do when the resource is broken: nobody comes in any
// more.
func (g *guard) abandon() {
	g.and(^uint64(passing))
	g.revoke()
	g.wake()
}

// giveUp gives up the lock, if the word is still v, in which nobody is inside.
func (g *guard) giveUp(v uint64) bool {
	invariant.Check(v&(memberMask|stray|busy) == 0, "the guard of %q is given up while it is %#x", g.r.name, v)
	if v&modeMask == born {
		if !g.cas(v, v&knockMask) {
			return false
		}
	} else {
		if !g.seize(v) {
			return false
		}
		g.and(knockMask)
	}
	g.wake()
	return true
}
