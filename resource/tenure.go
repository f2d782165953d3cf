package resource

import "github.com/orwl/go-orwl/internal/invariant"

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
	g.tellEnd()
}

// giveUp gives up the lock if the word is still v. In v there is no member inside.
func (g *guard) giveUp(v uint64) bool {
	invariant.Check(v&(memberMask|stray|busy) == 0, "the guard of %q is given up while it is %#x", g.r.name, v)
	if v&modeMask == born {
		if !g.cas(v, v&relaxedMask) {
			return false
		}
		g.wake()
		return true
	}
	if !g.cas(v, (v|busy)&^passing) {
		return false
	}
	if reach := g.locks.Reach; reach != nil {
		reach.Aside(func() { g.release(v & modeMask) })
	} else {
		g.release(v & modeMask)
	}
	return true
}

// release releases the lock that the FIFO owns in a mode, and ends busy.
func (g *guard) release(mode uint64) {
	g.leaveOrdered(mode)
	g.and(relaxedMask)
	g.wake()
	g.tellEnd()
}
