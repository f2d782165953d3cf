package queue

import (
	"context"
	"errors"

	"github.com/orwl/go-orwl/internal/queue/coherence"
)

// simTruth is what a resource has been through since its home has started.
type simTruth struct {
	states [][2]uint64 // count and chain of each version
	fence  uint64
}

// simWrite is a write, from the moment at which it is made. It is known by the state that
// it leaves, since it adds a number of its own to the chain.
type simWrite struct {
	node    *simNode
	life    uint64 // of the node
	place   *simPlace
	at      int
	of      *simTruth
	version uint64 // the version that it becomes
	fence   uint64

	committed bool
	released  bool // by a Release or a Renew that returned nil
	told      bool // its place has been, that it may be lost
	collected bool // Flush of the site has named it
	cuts      int  // of the way to its home, when it was released
	quiet     bool // there was none more when the home dropped it
}

// simWrites are all writes, in their order, and by the state that they leave.
type simWrites struct {
	all  []*simWrite
	by   map[[2]uint64]*simWrite
	cuts [3][3]int // how often one of two nodes has left the other
}

// writeOf makes a write of a place that holds.
func (c *siteRun) writeOf(p *simPlace, before [2]uint64) (now [2]uint64) {
	now = [2]uint64{before[0] + 1, before[1]*31 + uint64(len(c.writes.all)+1)}
	p.write = &simWrite{node: p.n, life: p.n.life, place: p, at: p.at, of: c.truth[p.at], version: p.Version() + 1, fence: p.Fence()}
	c.writes.all, c.writes.by[now] = append(c.writes.all, p.write), p.write
	return now
}

// look takes note of what homes have committed.
func (c *siteRun) look() {
	if c.flaw == "silent" {
		for _, n := range c.nodes {
			for _, f := range n.site.mirrors {
				f.lostWrites = nil
			}
		}
	}
	for i, h := range c.truth {
		r := c.nodes[i].r[i]
		last := uint64(len(h.states) - 1)
		v := r.ledger.Version()
		if v == last {
			continue
		}
		c.check(v == last+1, "r%d: version %d after %d", i, v, last)
		now := simState(r.buffer.Bytes())
		w := c.writes.by[now]
		c.check(w != nil && w.of == h && w.version == v, "r%d: version %d is %v, made of something else than version %d, %v", i, v, now, last, h.states[last])
		w.committed = true
		h.states = append(h.states, now)
		c.seen.commits++
	}
}

// released notes that a release of a place returned nil.
func (c *siteRun) released(n *simNode, p *simPlace) {
	if w := p.write; w != nil {
		w.released, w.cuts = true, c.writes.cuts[n.node][w.at]
	}
}

// cutOff notes that one of two nodes has left the other, or has started again.
func (c *siteRun) cutOff(a, b Node) {
	c.writes.cuts[a][b]++
	c.writes.cuts[b][a]++
}

// heard notes the lost writes that an error tells a place.
func (c *siteRun) heard(n *simNode, p *simPlace, err error) {
	for _, e := range lostWrites(err) {
		w := c.named(n, e)
		c.check(w.place == p && !w.told, "a place of node %d is told of a write with fence %d that is another's, or was told before", n.node, w.fence)
		w.told = true
	}
}

// lostWrites are the writes that an error names.
func lostWrites(err error) (all []*LostWriteError) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range joined.Unwrap() {
			all = append(all, lostWrites(err)...)
		}
		return all
	}
	if e := (*LostWriteError)(nil); errors.As(err, &e) {
		all = append(all, e)
	}
	return all
}

// named is the write that an error names.
func (c *siteRun) named(n *simNode, e *LostWriteError) *simWrite {
	for _, w := range c.alive(n) {
		if n.r[w.at].name == e.Resource && w.fence == e.Fence && w.released {
			c.check(e.Home == Node(w.at) && errors.Is(e, ErrLost), "%v names node %d", e, e.Home)
			return w
		}
	}
	c.check(false, "node %d: no such write was released, or not by this node: %v", n.node, e)
	return nil
}

// flush asks for the writes of a node, and does not wait. It reports whether all are known.
func (c *siteRun) flush(n *simNode) (known bool) {
	err := n.site.Flush(ended())
	c.note("%d flushes: %v", n.node, err)
	for _, e := range lostWrites(err) {
		w := c.named(n, e)
		c.check(!w.collected, "node %d: Flush names the write with fence %d again", n.node, w.fence)
		w.collected = true
	}
	if errors.Is(err, context.Canceled) {
		return false
	}
	c.seen.flushes++
	for _, w := range c.alive(n) {
		c.check(!w.released || w.committed || w.collected || Node(w.at) == n.node, "node %d: Flush returns %v, and its write of r%d with fence %d is neither committed nor lost", n.node, err, w.at, w.fence)
	}
	return true
}

// alive are the writes of a node's present life.
func (c *siteRun) alive(n *simNode) (all []*simWrite) {
	for _, w := range c.writes.all {
		if w.node == n && w.life == n.life {
			all = append(all, w)
		}
	}
	return all
}

// dropped notes that a home has refused a message of another life.
func (c *siteRun) dropped(from Node, m *coherence.Message) {
	n := c.nodes[from]
	for _, w := range c.alive(n) {
		if m.Wrote && w.released && m.Fence == w.fence && m.Resource == numberOf(n.r[w.at].name) {
			w.quiet = w.cuts == c.writes.cuts[from][w.at]
		}
	}
}

// account checks, when nothing is under way any more, what became of each write that was
// released: it is there, or its place and its node were told.
func (c *siteRun) account() {
	for _, n := range c.nodes {
		c.check(c.flush(n), "node %d: Flush waits for ever", n.node)
		for _, w := range c.alive(n) {
			if !w.released || w.committed {
				continue
			}
			c.check(w.told, "node %d: its write of r%d with fence %d is lost, and its place was not told", n.node, w.at, w.fence)
			c.check(w.collected, "node %d: its write of r%d with fence %d is lost, and Flush has not named it", n.node, w.at, w.fence)
			c.seen.gone++
			if w.quiet {
				c.seen.quiet++
			}
		}
	}
}

// commitWithoutFence is what a home would do that does not compare fences.
func (h *home) commitWithoutFence(m *coherence.Message) {
	copy(h.r.buffer.Bytes(), m.Bytes)
	h.r.ledger.Commit()
}
