package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
)

// cohort is C-G-L: a global lock G and, for each element of the finest level, a
// local lock L (Dice, Marathe, Shavit, PPoPP'12; on windows Uffmann 2022, §5.4).
// Whoever holds the local lock and inherits or acquires the global one holds the
// lock. A holder that is not alone passes the local lock on, and the global one
// stays where it is, T_L,N times in a row at most.
//
//	    G  (home)
//	  /   \
//	 L     L     at each element's tail rank
//	ranks  ranks
//
// The local grant is climb if the global lock has been let go, and more if it
// comes along: the number of passes in a row, plus one.
//
// # The four optimisations of §5.4.1
//
//   - Options.Count: the passes are counted by operations at the lock's home
//     (CountGlobal), by operations in the element (CountLocal), there directly
//     (CountDirect), or in the local grant itself (CountInline, the default);
//   - Options.OwnNode: off, the ranks of an element share one node in a global
//     MCS queue, since only one of them is in it at a time, and find it directly;
//     on, each has its own, and the element remembers whose is queued.
//
// Invariant: at most one rank of an element is in the global lock; it is let go
// before the local one is.
//
// Fairness: that of G between elements, with at most T_L,N acquisitions in a row
// inside one while another waits, and that of L inside.
//
// Cost, away from home: that of G; with a neighbour waiting, that of L.
type cohort struct {
	seat
	local  inner
	global core
	// The parts' seats.
	below, above seat
	tl           uint64
	passed       uint64 // CountInline: passes in a row, when the rank acquired
	count        word   // the other CohortCounts
}

// words is what a cohort takes. The locals' homes are the elements' tail ranks,
// so that every rank has room for one; the last word of each part is a count.
func (c cohort) words(l cohortLocal, g cohortGlobal) Words {
	return Words{Home: g.words.Home + 1, Rank: l.words.Home + l.words.Rank + g.words.Rank + 1}
}

// newCohort is the lock for a rank.
func newCohort(l cohortLocal, g cohortGlobal) func(seat) Mutex {
	return func(s seat) Mutex {
		n := s.tree.Levels()
		tail := s.tree.TailRank(n, s.tree.Element(s.rank, n))
		c := apart(cohort{seat: s, tl: uint64(s.o.TL[n-1])})

		globalRank := l.words.Home + l.words.Rank
		c.below = s.part(tail, s.rankBase, s.rankBase+rma.Disp(l.words.Home))
		c.above = s.part(s.home, s.homeBase, s.rankBase+rma.Disp(globalRank))
		c.local = l.new(&c.below)
		c.global = g.new(&c.above, tail)
		c.goesAtOnce(c.direct && c.mayGoAlone())

		switch s.o.Count {
		case CountDirect:
			c.count = s.at(tail, globalRank+g.words.Rank)
		case CountLocal:
			c.count = byOperations(s.at(tail, globalRank+g.words.Rank))
		case CountGlobal:
			c.count = byOperations(s.atHome(g.words.Home))
		}
		return c
	}
}

// part is the seat for a lock inside another one.
func (s *seat) part(home Rank, homeBase, rankBase rma.Disp) seat {
	p := *s
	p.home, p.homeBase, p.rankBase = home, homeBase, rankBase
	return p
}

// byOperations is a word that is not reached directly.
func byOperations(x word) word {
	x.at = nil
	return x
}

// Acquire implements Mutex.
func (c *cohort) Acquire(ctx context.Context) error {
	was := c.turn
	switch {
	case was.mode() != ready, was >= c.asks, !c.endless(&ctx), c.failed.Load():
		return c.acquire(ctx)
	case !c.below.lone.enter():
		return c.enter()
	case !c.above.lone.enter():
		return c.climb(0)
	case c.failed.Load():
		return c.intact()
	}
	count(&c.counts.Upper)
	c.setTurn(was + oneTurn + alone - ready)
	return nil
}

// acquire is Acquire for who has something to see to before.
func (c *cohort) acquire(ctx context.Context) error {
	if err := c.arrive(ctx); err != nil {
		return err
	}
	if !c.mayGoAlone() || !c.below.lone.farEnter() {
		return c.enter()
	}
	if !c.above.lone.farEnter() {
		return c.climb(0)
	}
	if err := c.decided(); err != nil {
		return err
	}
	count(&c.counts.Upper)
	c.acquired(alone)
	return nil
}

// enter is the rest of Acquire for who is not alone in the cohort.
func (c *cohort) enter() error {
	grant, err := c.local.enter(context.Background())
	if err != nil {
		return err
	}
	if grant != 0 {
		count(&c.counts.Waited)
	}
	return c.climb(grant)
}

// climb is the rest for who has the local lock, and what came with it.
func (c *cohort) climb(grant uint64) error {
	if grant <= climb {
		above, err := c.global.enter(context.Background())
		if err != nil {
			c.local.leave(climb)
			return err
		}
		count(&c.counts.Upper)
		if above != 0 {
			count(&c.counts.UpperWaited)
		}
		grant = climb
	}
	c.passed = grant - climb
	c.acquired(writing)
	return nil
}

// mayGoAlone reports whether the rank may go alone. It always may, or never: nobody gives up
// in a cohort.
func (c *cohort) mayGoAlone() bool {
	return (c.direct || c.o.lone) && c.below.lone.allowed && c.above.lone.allowed
}

// TryAcquire implements Tryer.
func (c *cohort) TryAcquire() bool {
	if c.begin(context.Background()) != nil || !c.local.tryEnter() {
		return false
	}
	if !c.global.tryEnter() {
		c.local.leave(climb)
		return false
	}
	c.passed = 0
	c.acquired(writing)
	return true
}

// Release implements Mutex.
func (c *cohort) Release() {
	if c.turn.mode() != alone {
		c.end(writing)
		c.leave()
		c.heed()
		return
	}
	c.end(alone)
	if below, above := &c.below.lone, &c.above.lone; below.tail.load() == below.present && above.tail.cas(above.present, above.absent) {
		if !below.tail.cas(below.present, below.absent) {
			c.local.leave(climb)
			c.heed()
		}
		return
	}
	c.passed = 0
	c.leave()
	c.heed()
}

// leave passes the lock on in the cohort, or lets go of it.
func (c *cohort) leave() {
	if !c.local.alone() {
		if passed := c.passes(); passed+1 < c.tl {
			count(&c.counts.Passed)
			c.setPasses(passed + 1)
			c.local.leave(passed + 1 + climb)
			return
		}
	}
	c.setPasses(0)
	c.global.leave(granted)
	c.local.leave(climb)
}

// heed asks what either part is to ask, before the next turn.
func (c *cohort) heed() {
	c.asks = min(c.asks, c.below.asks, c.above.asks)
	c.below.asks, c.above.asks = never, never
}

// passes is how often the lock has been passed on in a row.
func (c *cohort) passes() uint64 {
	if c.o.Count == CountInline {
		return c.passed
	}
	return c.count.load()
}

func (c *cohort) setPasses(n uint64) {
	if c.o.Count != CountInline {
		c.count.store(n)
	}
}

// Alone implements Cohort.
func (c *cohort) Alone() bool { return c.local.alone() }

// sharedQueue is a global MCS lock with one node for each element.
func sharedQueue(s *seat, node Rank) *queue {
	q := apart(newQueue(s, s.atHome(0), node, 0, false))
	s.goesAlone(lone{tail: q.tail, present: q.name})
	return q
}

// ownQueue is a global MCS lock with one node for each rank. The element
// remembers whose node is in the queue.
type ownQueue struct {
	queue
	owner word
}

func newOwnQueue(s *seat, element Rank) core {
	return apart(ownQueue{queue: newQueue(s, s.atHome(0), s.rank, 0, false), owner: s.at(element, nodeWords)})
}

func (q *ownQueue) enter(ctx context.Context) (uint64, error) {
	grant, err := q.queue.enter(ctx)
	if err == nil {
		q.owner.store(q.name)
	}
	return grant, err
}

func (q *ownQueue) tryEnter() bool {
	if !q.queue.tryEnter() {
		return false
	}
	q.owner.store(q.name)
	return true
}

func (q *ownQueue) leave(grant uint64) {
	owner := Rank(q.owner.load() - 1)
	if owner == q.node || q.s.w.Err() != nil {
		q.queue.leave(grant)
		return
	}
	theirs := newQueue(q.s, q.tail, owner, q.base, false)
	theirs.leave(grant)
}
