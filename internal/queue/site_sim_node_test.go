package queue

import (
	"context"
	"fmt"
	"slices"

	"github.com/orwl/go-orwl/net/rma"
)

// simNode is a node and its places. All of it belongs to its present life, except the ends
// of its ways and what the clock reads.
type simNode struct {
	c      *siteRun
	node   Node
	life   uint64
	site   *Site
	r      [2]*Resource
	inside int         // of its ranks that are in an operation of the Site
	places []*simPlace // of the loop
	own    *simPlace   // of the task
	late   bool        // it has no mirror of r1 yet
	ends   [3]simEnd
	inbox  []arrival

	rounds int    // the rounds that the task has left
	idle   uint64 // the phase that the task is done with
	busy   bool   // the loop is not
	done   uint64 // the phase that the loop is done with
}

// start makes the node one that knows nothing.
func (n *simNode) start() {
	c := n.c
	n.life = max(n.life, 1)
	o := SiteOptions{Node: n.node, Nodes: 3, Incarnation: n.life, Transport: simPort{n, n.life}}
	if c.clocks {
		o.Suspected = n.suspected
	}
	if c.sweeps {
		o.Later = never
	}
	s, err := NewSite(o)
	c.check(err == nil, "%v", err)
	n.site, n.inside, n.places, n.inbox, n.busy = s, 0, nil, nil, true
	n.own = &simPlace{n: n, at: c.chance(2)}
	if n.late = n.node == 2 && c.chance(2) == 0; n.late {
		n.own.at = 0
	}
	for i := range n.r {
		r, err := New(fmt.Sprint("r", i), 64)
		c.check(err == nil, "%v", err)
		if n.node == Node(i) {
			err = s.Home(r)
			for range n.life << 12 { // its fences are greater than in its life before
				r.ledger.Raise()
			}
			c.truth[i] = &simTruth{states: [][2]uint64{{}}, fence: r.ledger.Fence()}
			r.probe = c
		} else if !n.late || i == 0 {
			err = s.Mirror(r, Node(i))
		}
		c.check(err == nil, "%v", err)
		n.r[i] = r
		n.places = append(n.places, &simPlace{n: n, at: i}, &simPlace{n: n, at: i})
	}
}

// alone says that a node that has started again knows no other yet.
func (n *simNode) alone() {
	for other := range Node(3) {
		if other == n.node {
			continue
		}
		n.c.cutOff(n.node, other)
		n.c.nodes[other].invalidate(n.node)
		n.ends[other] = simEnd{last: n.c.way(n.node, other).session, lost: true}
	}
	for other := range Node(3) { // meanwhile other ranks may run, and find all ends as they are now
		if other != n.node {
			n.site.Lost(other, errLeft)
		}
	}
}

func (n *simNode) home() *home { return n.site.homes[numberOf(fmt.Sprint("r", n.node))] }

func (n *simNode) all() []*simPlace { return append(slices.Clip(n.places), n.own) }

// loop is the event loop of a node.
func (a *actor) loop(context.Context) error {
	c, n := a.c, a.n
	a.fetch(rma.Rank(n.node), tickWord, rma.Replace, c.ticks[n.node])
	for c.phase < runIsOver {
		n.busy = false
		_ = a.await(context.Background(), rma.Rank(n.node), bellWord, rma.IsNot(0))
		bits := a.w.FetchOp(rma.Rank(n.node), bellWord, rma.Replace, 0)
		n.busy = true
		n.collect(bits) // also when it has started again: what came is lost
		a.goesOn()
		for _, l := range c.links {
			a.ringFull(l[n.node])
		}
		for len(n.inbox) > 0 {
			m := n.inbox[0]
			n.inbox = n.inbox[1:]
			a.receive(m)
		}
		if bits >= aTick {
			a.timePasses()
			a.fetch(rma.Rank(n.node), tickWord, rma.Replace, c.ticks[n.node])
		} else if c.phase == faultsHappen {
			a.act()
		}
	}
	return nil
}

// ringFull tells a link that there is room again.
func (a *actor) ringFull(l *simLink) {
	if l.unrung && l.from != a.n.node {
		a.fetch(l.rank, bellWord, rma.Sum, 1)
	}
}

// timePasses is what a loop does with a tick.
func (a *actor) timePasses() {
	c, n := a.c, a.n
	for other := range Node(3) {
		if other != n.node {
			a.watch(other)
		}
	}
	phase := c.phase
	switch phase {
	case faultsHappen:
		for range c.chance(6) {
			a.act()
		}
		switch k := c.chance(20); {
		case k < 2:
			a.suspect(Node(c.chance(2)))
		case k < 4:
			n.site.sweep()
		case k < 6:
			c.flush(n)
		}
	case allIsWell, lastWrites:
		if a.tidy(phase) {
			n.done = phase
		}
	case allSettle:
		if n.done < phase {
			n.done = phase
			c.flush(n) // asks
		}
	}
	a.ring()
}

// suspect lets a node think that a home may have given it up, with or without a reason.
func (a *actor) suspect(home Node) {
	if a.n.node == home {
		return
	}
	a.c.note("%d suspects that %d has given it up", a.n.node, home)
	a.n.invalidate(home)
	a.n.site.Suspect(home, errLeft)
}

// act lets one of the places of a loop do what makes sense for it.
func (a *actor) act() {
	c, n := a.c, a.n
	p := n.places[c.chance(len(n.places))]
	switch {
	case n.late && p.at == 1:
		if c.chance(4) == 0 {
			a.mirrorLate()
		}
	case p.Held():
		a.leaveAccess(p, c.chance(3) == 0)
	case !p.Requested():
		a.request(p, Mode(c.chance(2)))
	case a.granted(p):
		_ = a.acquire(context.Background(), p)
	case c.chance(8) == 0:
		a.cancel(p)
	}
	a.ring()
}

// tidy ends what the places of a loop do, and lets each write once more in the phase for
// that. It reports whether there is nothing left to do.
func (a *actor) tidy(phase uint64) bool {
	c, n := a.c, a.n
	tidy := n.idle >= phase
	if n.late {
		a.mirrorLate()
	}
	for other := range Node(3) {
		tidy = tidy && (other == n.node || n.ends[other].session == c.way(n.node, other).session)
	}
	for _, p := range n.places {
		switch {
		case p.Held():
			a.leaveAccess(p, false)
		case p.Requested():
			tidy = false
			if a.granted(p) && a.acquire(context.Background(), p) == nil {
				c.check(phase == allIsWell || p.valid, "a place of %d for r%d is not taken for present", n.node, p.at)
				a.leaveAccess(p, false)
				p.last = p.last || phase == lastWrites
			}
		case phase == lastWrites && !p.last:
			tidy = false
			c.check(a.request(p, Write) == nil || p.told(), "a place of %d cannot request r%d", n.node, p.at)
		}
		a.ring()
	}
	return tidy && len(n.inbox) == 0
}

// mirrorLate mirrors r1 on a node that has not had it.
func (a *actor) mirrorLate() {
	c, n := a.c, a.n
	n.late = false
	if c.truth[1] != nil && len(c.truth[1].states) > 1 {
		c.seen.late++
	}
	c.note("%d mirrors r1", n.node)
	c.check(n.site.Mirror(n.r[1], 1) == nil, "mirror late")
}
