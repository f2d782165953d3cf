package lockstest

import "github.com/orwl/go-orwl/locks"

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
