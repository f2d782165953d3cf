package lockstest

import (
	"github.com/orwl/go-orwl/locks"
)

// Counts agrees with the events.
var countsCases = []Case{
	{Name: "counts/alone", Ranks: 2, act: countsAlone},
	{Name: "counts/waited", Ranks: 2, act: countsWaited},
	{Name: "counts/contended", Ranks: 3, act: countsContended},
	{Name: "counts/passed", Ranks: 3, needs: func(s Subject) bool { return s.has("TL") && s.Spec.Name != "AHMCS" }, act: countsPassed},
}

func (p *player) counts() locks.Counts {
	c, ok := p.lock.(locks.Counter)
	if !ok {
		p.fail("%T does not count", p.lock)
	}
	return c.Counts()
}

// countsAlone lets ranks take turns, so that no rank finds a predecessor.
func countsAlone(p *player) {
	const n = 3
	p.hear(0, int(p.me))
	for range n {
		for _, m := range p.modes() {
			p.acquire(m)
			p.release(m)
		}
	}
	p.tell(0)
	c := p.counts()
	p.equal(c.Acquired, uint64(n*len(p.modes())), "Acquired")
	p.equal(c.Waited, 0, "Waited, though no other rank came,")
	p.equal(c.UpperWaited, 0, "UpperWaited, though no other rank came,")
	p.equal(c.Passed, 0, "Passed, though no rank waited,")
	if c.Upper != 0 {
		p.equal(c.Upper, n, "Upper, though no rank passed the lock along,")
	}
	p.meet()
}

// countsWaited lets a rank wait once. The level in which it waits depends on the lock.
func countsWaited(p *player) {
	const held, waits = 0, 1
	if p.me == 0 {
		p.acquire(write)
		p.tell(held)
		p.hear(waits, 1)
		p.release(write)
		p.equal(p.counts().Waited, 0, "Waited of the first rank")
	} else if p.me == 1 {
		p.hear(held, 1)
		p.acquireTelling(write, waits)
		p.release(write)
		c := p.counts()
		p.equal(c.Acquired, 1, "Acquired")
		if c.Waited+c.UpperWaited != 1 {
			p.fail("of one acquisition, Waited is %d and UpperWaited is %d, want one of them to be 1", c.Waited, c.UpperWaited)
		}
	}
	p.meet()
}

// sums adds up the counts of all ranks, with signals.
func (p *player) sums(c locks.Counts) locks.Counts {
	of := []*uint64{&c.Acquired, &c.Waited, &c.Upper, &c.UpperWaited, &c.Passed}
	for i, n := range of {
		p.add(i, *n)
	}
	p.meet()
	for i, n := range of {
		*n = uint64(p.told(i))
	}
	return c
}

func countsContended(p *player) {
	n := p.share(60)
	for range n {
		p.section(write)
	}
	own := p.counts()
	p.equal(own.Acquired, uint64(n), "Acquired")
	c := p.sums(own)
	p.equal(c.Acquired, uint64(n*p.ranks), "the sum of all Acquired")
	for _, part := range []struct {
		name        string
		part, whole uint64
	}{
		{"Waited of Acquired", c.Waited, c.Acquired}, {"Upper of Acquired", c.Upper, c.Acquired},
		{"UpperWaited of Upper", c.UpperWaited, c.Upper}, {"Passed of Acquired", c.Passed, c.Acquired},
	} {
		if part.part > part.whole {
			p.fail("%s: %d of %d", part.name, part.part, part.whole)
		}
	}
	// Each acquisition got the lock from the level above or from a neighbour.
	if c.Upper+c.Passed > 0 {
		p.equal(c.Upper+c.Passed, c.Acquired, "the sum of all Upper and Passed")
	}
	if locality := c.Locality(); locality < 0 || locality > 1 {
		p.fail("locality %v", locality)
	}
}

// countsPassed lets a rank pass the lock to a waiting neighbour. AHMCS's first rank is in the
// queue of the root only, where its neighbour joins it.
func countsPassed(p *player) {
	const held, waits = 0, 1
	if p.tree.Levels() < 2 {
		p.skip("has no neighbours on a machine of one level")
	}
	last := p.tree.Levels()
	first, _ := p.tree.Members(last, 0)
	switch p.me {
	case first:
		p.acquire(write)
		p.tell(held)
		p.hear(waits, 1)
		p.release(write)
		c := p.counts()
		p.equal(c.Passed, 1, "Passed, with a neighbour that waited,")
		p.equal(c.Upper, 1, "Upper of the first rank")
	case first + 1:
		p.hear(held, 1)
		p.acquireTelling(write, waits)
		p.release(write)
		c := p.counts()
		p.equal(c.Waited, 1, "Waited")
		p.equal(c.Upper, 0, "Upper of the rank that got the lock from a neighbour")
		p.equal(c.Passed, 0, "Passed of the last rank")
	}
	p.meet()
}
