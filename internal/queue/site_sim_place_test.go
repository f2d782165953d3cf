package queue

import (
	"context"
	"encoding/binary"
	"errors"
)

// simPlace is a place of a node.
type simPlace struct {
	Place
	at    int // the resource
	n     *simNode
	valid bool // its home takes it for present
	last  bool // it has written once more at the end
	write *simWrite
}

// told reports whether the place's last write was reported as lost.
func (p *simPlace) told() bool { return p.write == nil || p.write.told }

func (a *actor) request(p *simPlace, m Mode) error {
	c, n := a.c, a.n
	a.begins()
	err := p.Request(n.r[p.at], m)
	a.ends()
	c.note("%d requests r%d %v: %v", n.node, p.at, m, err)
	c.check(err == nil || errors.Is(err, ErrLost) || errors.Is(err, ErrStale), "request: %v", err)
	c.heard(n, p, err)
	return err
}

func (a *actor) granted(p *simPlace) bool {
	a.begins()
	defer a.ends()
	return p.Granted()
}

func (a *actor) cancel(p *simPlace) {
	c := a.c
	c.note("%d cancels r%d", a.n.node, p.at)
	c.seen.cancelled++
	a.begins()
	c.check(p.Cancel() == nil, "cancel")
	a.ends()
}

// acquire acquires, and checks what the place finds. It returns why the request is over
// if that is so, or the end of the context.
func (a *actor) acquire(ctx context.Context, p *simPlace) error {
	c, n := a.c, a.n
	a.begins()
	err := p.Acquire(ctx)
	a.ends()
	c.note("%d acquires r%d %v: %v", n.node, p.at, p.Mode(), err)
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return err
	}
	if err != nil {
		c.check(errors.Is(err, ErrLost) || errors.Is(err, ErrEnded), "acquire: %v", err)
		c.seen.told++
		c.heard(n, p, err)
		a.begins()
		c.check(p.Cancel() == nil, "cancel")
		a.ends()
		return err
	}
	c.seen.served++
	p.write = nil
	p.valid = c.believes(Node(p.at), n)
	c.check(!c.clocks || !c.gaveUp(n, Node(p.at)), "%d begins to use a grant of r%d, whose home has given it up", n.node, p.at)
	if p.valid {
		c.enters(p)
	}
	return nil
}

// gaveUp reports whether a home, in the life that a node knows, has given that node up.
func (c *siteRun) gaveUp(n *simNode, home Node) bool {
	there, here := &c.nodes[home].ends[n.node], &n.ends[home]
	return home != n.node && c.nodes[home].life == here.life && there.lost && there.last == here.session
}

// believes reports whether the home takes a node for present, in its present life.
func (c *siteRun) believes(home Node, n *simNode) bool {
	if home == n.node {
		return true
	}
	there, here := &c.nodes[home].ends[n.node], &n.ends[home]
	return here.session != 0 && here.session == there.session
}

// enters checks what a place finds that has acquired, and lets it write.
func (c *siteRun) enters(p *simPlace) {
	n, h := p.n, c.truth[p.at]
	for _, other := range c.nodes {
		for _, q := range other.all() {
			if q != p && q.at == p.at && q.Held() && q.valid {
				c.check(p.Mode() == Read && q.Mode() == Read, "r%d is held by %d (%v) and %d (%v)", p.at, n.node, p.Mode(), other.node, q.Mode())
			}
		}
	}
	b, err := p.Bytes()
	c.check(err == nil, "bytes: %v", err)
	last := uint64(len(h.states) - 1)
	c.check(p.Version() == last && simState(b) == h.states[last], "%d sees version %d of r%d, %v, want %d, %v", n.node, p.Version(), p.at, simState(b), last, h.states[last])
	if p.Mode() == Read {
		return
	}
	c.check(p.Fence() > h.fence, "fence %d of a writer after %d", p.Fence(), h.fence)
	h.fence = p.Fence()
	if c.few && c.chance(2) == 0 {
		return
	}
	w, err := p.Writable()
	c.check(err == nil, "writable: %v", err)
	now := c.writeOf(p, simState(w))
	binary.NativeEndian.PutUint64(w, now[0])
	binary.NativeEndian.PutUint64(w[16:], now[1])
}

func simState(b []byte) [2]uint64 {
	return [2]uint64{binary.NativeEndian.Uint64(b), binary.NativeEndian.Uint64(b[16:])}
}

// leaveAccess ends an access, in one of the ways to do so.
func (a *actor) leaveAccess(p *simPlace, renew bool) {
	c, n := a.c, a.n
	do, how := p.Release, "releases"
	switch {
	case renew:
		do, how = p.Renew, "renews"
	case c.chance(6) == 0 && c.phase == faultsHappen && (p.r.mirror != nil || !p.wrote): // half-written bytes at the home are a version
		do, how = func() error { return c.fail(p) }, "abandons"
	}
	ended, write := p.r.mirror != nil && p.x.remote.err != nil, p.write
	c.note("%d %s r%d %v", n.node, how, p.at, p.Mode())
	// From now on the access is over, whatever the other ranks do before it returns.
	p.valid = false
	if how != "abandons" && p.r.mirror == nil {
		c.released(n, p)
	}
	a.begins()
	err := do()
	a.ends()
	c.look()
	late := errors.Is(err, ErrSuspected) && c.clocks // it was told by the release
	c.check(ended == (err != nil) || late, "release: %v, after it was lost: %t", err, ended)
	if err != nil {
		c.check(errors.Is(err, ErrStale), "release: %v", err)
		c.seen.told++
	} else if how != "abandons" && p.r.mirror != nil {
		p.write = write
		c.released(n, p)
	}
	c.check(!p.Held(), "held after release")
}

// fail abandons an access after it has made the bytes, if it has written, what no commit
// may be.
func (c *siteRun) fail(p *simPlace) error {
	if p.wrote {
		if w, err := p.Writable(); err == nil {
			clear(w)
			c.seen.failed++
		}
	}
	if c.flaw == "abandon" {
		return p.Release()
	}
	return p.Abandon(errFire)
}
