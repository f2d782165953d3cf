package lockstest

import (
	"context"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rmatest"
)

// The lock performs as many operations on other ranks' memory as its row says. The
// lock uses operations, not direct access, with the options of the row, on
// costMachine. The measured rank keeps no words for other ranks: its element has
// another tail rank and another counter, and the home is in the other element. Its
// neighbours are in its own element.
var costCases = []Case{
	{Name: "cost/uncontended", Topology: costMachine, options: costly, act: costUncontended},
	{Name: "cost/reader", Topology: costMachine, needs: readerWriter, options: costly, act: costReader},
	{Name: "cost/contended", Topology: costMachine, options: costly, act: costContended},
}

// costMachine has two levels and two elements, and so two counters of readers.
const costMachine = "node:2 core:4"

func costly(o *locks.Options) { *o = locks.Options{Operations: true, Home: 7} }

// The part of each rank. Rank 0 is the element's tail rank.
const (
	costBefore, costMeasured, costBehind = 1, 2, 3
)

// costOf is the number of a lock's operations on other ranks' memory.
func costOf(t *rmatest.Tally) locks.Operations {
	c := t.Remote
	return locks.Operations{Atomics: c.FetchOp + c.CAS, Puts: c.Put + c.Accumulate, Gets: c.Get + c.Await}
}

// charge compares the counted operations with the row.
func (p *player) charge(want locks.Operations, what string) {
	got := costOf(p.scout.tally)
	within := got == want
	if want.Unbounded {
		within = got.Atomics >= want.Atomics && got.Puts >= want.Puts && got.Gets >= want.Gets
	}
	if !within {
		p.fail("%s took %v on other ranks' memory (%v), but the table says %v", what, got, p.scout.tally.Remote, want)
	}
}

// costWarm lets each rank that takes part have the lock once. Afterwards queue nodes
// that travel between ranks have travelled.
func (p *player) costWarm() {
	const turn = 7
	p.hear(turn, int(p.me))
	if p.me >= costBefore && p.me <= costBehind {
		p.acquire(write)
		p.release(write)
	}
	p.tell(turn)
	p.hear(turn, p.ranks)
	p.scout.tally.Reset()
}

func costUncontended(p *player) {
	p.costWarm()
	if p.me == costMeasured {
		p.acquire(write)
		p.release(write)
		p.charge(p.subject.Spec.Cost.Uncontended, "acquire and release by the only rank that wants the lock")
	}
}

func costReader(p *player) {
	p.costWarm()
	if p.me == costMeasured {
		p.acquire(read)
		p.release(read)
		p.charge(p.subject.Spec.Cost.Reader, "acquire and release by a reader that no writer blocks")
	}
}

func costContended(p *player) {
	p.costWarm()
	p.ctx = context.WithoutCancel(p.ctx) // no rank gives up: a rank that might costs a few more operations
	const held, measured, behind = 0, 1, 2
	switch p.me {
	case costBefore:
		p.acquire(write)
		p.tell(held)
		p.hear(behind, 1)
		p.release(write)
	case costMeasured:
		p.hear(held, 1)
		p.acquireTelling(write, measured)
		p.release(write)
		p.charge(p.subject.Spec.Cost.Contended, "acquire and release between two other ranks")
	case costBehind:
		p.hear(measured, 1)
		p.acquireTelling(write, behind)
		p.release(write)
	}
}

// Alone tells the holder whether no other rank waits.
var cohortCases = []Case{
	{Name: "cohort/no-waiter", Ranks: 2, act: cohortNoWaiter},
	{Name: "cohort/known", Ranks: 2, act: cohortKnown},
	{Name: "cohort/contended", Ranks: 3, act: cohortContended},
}

func (p *player) cohort() locks.Cohort {
	c, ok := p.lock.(locks.Cohort)
	if !ok {
		p.skip("does not know whether ranks wait")
	}
	return c
}

// cohortNoWaiter lets ranks take turns, so that no rank ever waits.
func cohortNoWaiter(p *player) {
	c := p.cohort()
	for round := range 3 {
		p.hear(0, round*p.ranks+int(p.me))
		p.acquire(write)
		if !c.Alone() {
			p.fail("is not alone, but no other rank has come")
		}
		p.release(write)
		p.tell(0)
	}
}

// cohortKnown calls Alone from the time when a neighbour surely waits, until the
// release. Alone need not know of waiters in other elements.
func cohortKnown(p *player) {
	const held, waits, rounds = 0, 1, 3
	c := p.cohort()
	first, n := p.tree.Members(p.tree.Levels(), 0)
	if p.me < first || int(p.me-first) >= n {
		return
	}
	for round := range rounds {
		turn := round*n + int(p.me-first)
		p.hear(held, turn)
		if turn == 0 {
			p.acquire(write)
		} else {
			p.acquireTelling(write, waits)
		}
		p.tell(held)
		if turn < rounds*n-1 {
			p.hear(waits, turn+1)
			for range 3 {
				if c.Alone() {
					p.fail("is alone, but its neighbour waits")
				}
			}
		}
		p.release(write)
	}
}

// cohortContended calls Alone under contention. A waiter has announced itself before
// it acquires, and cannot have got the lock.
func cohortContended(p *player) {
	const coming = 0
	c := p.cohort()
	for range p.share(60) {
		p.add(coming, 1)
		p.acquire(write)
		p.add(coming, ^uint64(0))
		known := !c.Alone()
		if others := p.told(coming); known && others < 1 {
			p.fail("is not alone, but no other rank wants the lock")
		}
		if known && c.Alone() {
			p.fail("was not alone, and is alone now, without a release")
		}
		p.release(write)
	}
}

// Counts agrees with the events.
var countsCases = []Case{
	{Name: "counts/alone", Ranks: 2, act: countsAlone},
	{Name: "counts/waited", Ranks: 2, act: countsWaited},
	{Name: "counts/contended", Ranks: 3, act: countsContended},
	{Name: "counts/passed", Ranks: 3, needs: func(s Subject) bool { return s.has("TL") && s.Spec.Name != "AHMCS" && !s.Spec.Recoverable }, act: countsPassed},
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
