package resource

import (
	"errors"
)

// simPart is a part of the program that begins while others run. Its home reserves the first
// requests. The nodes learn of it when that is done, as by a vote, and then make them.
type simPart struct {
	at    int // the resource
	first []First
	state []partState
	order int
	late  bool // the flaw: it is not reserved yet
}

// partState is what became of a first request.
type partState uint8

const (
	partOpen   partState = iota
	partAsked            // it was made
	partServed           // and acquired
	partGone             // its home has given up its node, or the node the request
)

// begin lets the home of this node reserve a part.
func (a *actor) begin() {
	c, n := a.c, a.n
	p := &simPart{at: int(n.node)}
	for range 2 + c.chance(4) {
		p.first = append(p.first, First{Node(c.chance(3)), Mode(c.chance(2))})
		p.state = append(p.state, partOpen)
	}
	if c.flaw == "no vote" { // the nodes begin before the home has reserved
		p.order, p.late = n.spent+1, true
		c.parts[n.node] = p
		return
	}
	a.reserve(p)
}

func (a *actor) reserve(p *simPart) {
	c, n := a.c, a.n
	life, first := n.life, p.first
	if c.flaw == "unreserved" {
		first = nil
	}
	a.free()
	a.begins()
	order, err := n.site.Reserve(n.r[n.node], first)
	a.ends()
	c.check(err == nil, "reserve: %v", err)
	if n.life != life {
		return
	}
	c.note("%d reserves %v from %d on", n.node, p.first, order)
	p.order, p.late, n.spent = order, false, order+len(p.first)-1
	c.parts[n.node] = p
	c.seen.parts++
}

// endPart gives up what is left of the part of a node's home.
func (a *actor) endPart() {
	c, n := a.c, a.n
	p := c.parts[n.node]
	c.parts[n.node] = nil
	for _, s := range p.state {
		if s == partOpen {
			c.seen.forgone++
		}
	}
	p.ended()
	a.free()
	a.begins()
	err := n.site.Forgo(n.r[n.node], p.order, len(p.first))
	a.ends()
	c.check(err == nil, "forgo: %v", err)
}

// ended says that no first request of the part follows. One that is under way may come late.
func (p *simPart) ended() {
	for i, s := range p.state {
		if s != partServed {
			p.state[i] = partGone
		}
	}
}

// next is the number of the first request that a node may make now, or -1.
func (p *simPart) next(n Node) int {
	if p != nil {
		for i, f := range p.first {
			if f.Node == n && p.state[i] == partOpen {
				return i
			}
		}
	}
	return -1
}

// over reports whether nothing of the part is open.
func (p *simPart) over() bool {
	for _, s := range p.state {
		if s == partOpen {
			return false
		}
	}
	return true
}

// playPart lets the loop of a home begin or end a part, now and then.
func (a *actor) playPart() {
	c, n := a.c, a.n
	if n.node > 1 {
		return
	}
	switch p := c.parts[n.node]; {
	case p == nil && c.chance(6) == 0:
		a.begin()
	case p != nil && p.late:
		if c.chance(4) == 0 {
			a.reserve(p)
		}
	case p != nil && (p.over() || c.chance(60) == 0):
		a.endPart()
	}
}

// requestPart makes a first request of a part, by an idle place.
func (a *actor) requestPart(p *simPlace, i int) {
	c, n := a.c, a.n
	p.part, p.number = c.parts[p.at], i
	p.part.state[i] = partAsked
	a.free()
	a.begins()
	err := p.RequestOrdered(n.r[p.at], p.part.first[i].Mode, p.part.order+i)
	a.ends()
	c.note("%d makes the first request %d of r%d: %v", n.node, i, p.at, err)
	c.check(err == nil || errors.Is(err, ErrLost) || errors.Is(err, ErrStale), "first request: %v", err)
	c.heard(n, p, err)
	if err != nil {
		p.partEnds(partGone)
	}
}

// partEnds notes what became of the first request of a place.
func (p *simPlace) partEnds(s partState) {
	if p.part != nil && p.part.state[p.number] == partAsked {
		p.part.state[p.number] = s
	}
	p.part = nil
}

// inTurn checks, when a place acquires a first request of a part, that those before it have
// had their turn.
func (c *siteRun) inTurn(p *simPlace) {
	if q := p.part; q != nil && p.valid && q.state[p.number] == partAsked {
		for j, f := range q.first[:p.number] {
			conflict := f.Mode == Write || p.Mode() == Write
			c.check(!conflict || q.state[j] >= partServed, "first request %d of r%d is served before %d", p.number, p.at, j)
			if conflict && f.Node != p.n.node {
				c.seen.turns++
			}
		}
	}
	p.partEnds(partServed)
}

// partGone says that first requests of a node at a home are over: those that it has made, and
// those that it has not if the home has given up the node.
func (c *siteRun) partGone(home, n Node, least partState) {
	if home > 1 || c.parts[home] == nil {
		return
	}
	for i, f := range c.parts[home].first {
		if s := &c.parts[home].state[i]; f.Node == n && *s >= least && *s < partServed {
			*s = partGone
			c.seen.absent++
		}
	}
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
