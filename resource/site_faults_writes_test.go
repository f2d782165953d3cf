package resource

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/resource/internal/coherence"
)

// attempt is a write of TestSiteFaults, from the moment at which it is made. It is known
// by the state that it leaves, since it adds a number of its own to the chain.
type attempt struct {
	node        *faultyNode
	incarnation uint64 // of the node
	place       *faultyPlace
	of          *chronicle
	version     uint64 // that it becomes
	fence       uint64

	committed bool
	released  bool // by a Release or a Renew that returned nil
	told      bool // its place has been, that it may be lost
	collected bool // Flush of the site has named it
	cuts      int  // of the way to its home, when it was released
	quiet     bool // there was none more when the home dropped it
}

// attempts are all writes, in their order, and by the state that they leave.
type attempts struct {
	all []*attempt
	by  map[[2]uint64]*attempt
}

// write makes a write of a place that holds.
func (c *faults) write(n *faultyNode, p *faultyPlace, before [2]uint64) (now [2]uint64) {
	now = [2]uint64{before[0] + 1, next(before[1], uint64(len(c.writes.all)+1))}
	h := c.truth[p.at]
	p.write = &attempt{node: n, incarnation: n.incarnation, place: p, of: h, version: p.Version() + 1, fence: p.Fence()}
	c.writes.all, c.writes.by[now] = append(c.writes.all, p.write), p.write
	return now
}

// released notes that a release of a place returned nil.
func (c *faults) released(n *faultyNode, p *faultyPlace) {
	if a := p.write; a != nil {
		a.released, a.cuts = true, c.cutsOf(a)
	}
}

// cutsOf is how often the way from a write to its home has been cut.
func (c *faults) cutsOf(a *attempt) int { return c.cuts[[2]Node{a.node.node, Node(a.place.at)}] }

// cutOff notes that one of two nodes has found the other gone, or has started again.
func (c *faults) cutOff(a, b Node) {
	c.cuts[[2]Node{a, b}]++
	c.cuts[[2]Node{b, a}]++
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

// heard notes of which lost writes an error tells a place.
func (c *faults) heard(n *faultyNode, p *faultyPlace, err error) {
	for _, e := range lostWrites(err) {
		a := c.named(n, e)
		c.check(a.place == p && !a.told, "a place of node %d is told of a write with fence %d that is another's, or was told before", n.node, a.fence)
		a.told = true
		invariant.Sometimes(a.committed, "a lost write is reported, and committed all the same")
	}
}

// named is the write that an error names.
func (c *faults) named(n *faultyNode, e *LostWriteError) *attempt {
	for _, a := range c.alive(n) {
		if a.place.r.name == e.Resource && a.fence == e.Fence && a.released {
			c.check(e.Home == Node(a.place.at) && errors.Is(e, ErrLost), "%v names node %d", e, e.Home)
			return a
		}
	}
	c.check(false, "node %d: no such write was released, or not by this node: %v", n.node, e)
	return nil
}

// flush asks for the writes of a node, and does not wait. Those of which nothing is known
// come next time.
func (c *faults) flush(n *faultyNode) (known bool) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := c.net.sites[n.node].Flush(ctx)
	c.note("%d flushes: %v", n.node, err)
	for _, e := range lostWrites(err) {
		a := c.named(n, e)
		c.check(!a.collected, "node %d: Flush names the write with fence %d again", n.node, a.fence)
		a.collected = true
	}
	if errors.Is(err, context.Canceled) {
		return false
	}
	c.flushes++
	for _, a := range c.alive(n) {
		c.check(!a.released || a.committed || a.collected, "node %d: Flush returns %v, and its write of r%d with fence %d is neither committed nor lost", n.node, err, a.place.at, a.fence)
	}
	return true
}

// alive are the writes of a node's present life.
func (c *faults) alive(n *faultyNode) (all []*attempt) {
	for _, a := range c.writes.all {
		if a.node == n && a.incarnation == n.incarnation {
			all = append(all, a)
		}
	}
	return all
}

// dropped notes that a home has refused a message of another life.
func (c *faults) dropped(from Node, m *coherence.Message) {
	for _, a := range c.alive(c.nodes[from]) {
		if m.Wrote && a.released && m.Fence == a.fence && m.Resource == numberOf(a.place.r.name) {
			a.quiet = a.cuts == c.cutsOf(a)
		}
	}
}

// silence has mirrors forget what they have lost.
func (c *faults) silence() {
	for _, s := range c.net.sites {
		for _, f := range s.mirrors {
			f.lostWrites = nil
		}
	}
}

// account checks, when nothing is under way any more, what became of each write that was
// released: it is there, or its place and its node were told.
func (c *faults) account() {
	for _, n := range c.nodes {
		c.check(c.flush(n), "node %d: Flush waits for ever", n.node)
		for _, a := range c.alive(n) {
			if !a.released || a.committed {
				continue
			}
			c.check(a.told, "node %d: its write of r%d with fence %d is lost, and its place was not told", n.node, a.place.at, a.fence)
			c.check(a.collected, "node %d: its write of r%d with fence %d is lost, and Flush has not named it", n.node, a.place.at, a.fence)
			c.gone++
			if a.quiet {
				c.quiet++
			}
		}
	}
}

// Some seed loses a write although no node is found to be gone, none starts again, and
// every message arrives: a node suspects its home, and the first message of its new life
// overtakes the write of the last one.
func TestSiteFaultsLosesQuietly(t *testing.T) {
	for seed := range uint64(3000) {
		c, err := survive(rand.New(rand.NewPCG(seed, 7)).IntN, "")
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, lines(c.trace))
		}
		if c.quiet > 0 {
			t.Logf("seed %d", seed)
			return
		}
	}
	t.Error("no seed loses a write by suspicion alone: the model shows nothing of it")
}
