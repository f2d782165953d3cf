package locks

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// local is a part that knows its waiters.
type local interface {
	part
	// alone reports whether the holder knows of no waiter ("alone?").
	alone() bool
}

// cohort is C-G-L: a global lock G and, for each element of the finest level, a local lock
// L (Dice, Marathe, Shavit, PPoPP'12; on windows Uffmann 2022, §5.4, figure 5.3). A rank
// that holds the local lock and inherits or acquires the global one holds the lock. A
// holder that is not alone passes the local lock on, and the global one stays where it is,
// at most T_L,N times in a row.
//
//	    G  (home)
//	  /   \
//	 L     L     at each element's tail rank
//	ranks  ranks
//
// The local grant is climb if the global lock was let go. If the global lock comes along,
// the grant is the number of passes in a row, plus one.
//
// # The four optimisations of §5.4.1
//
//   - Options.Count: passes are counted by operations at home (CountGlobal) or in the element
//     (CountLocal), there directly (CountDirect), or in the local grant (CountInline, the default);
//   - Options.OwnNode: off, an element's ranks share a node in a global MCS queue, and find it
//     directly; on, each has its own, and the element remembers the queued one.
//
// Invariant: at most one rank of an element is in the global lock, and lets go of it first.
//
// Fairness: G's between elements, with at most T_L,N acquisitions in a row inside one while
// another waits, and L's inside. TTS has none: a neighbour may overtake again and again.
//
// Cost, away from home: G's; with a neighbour waiting, L's.
//
// # Giving up
//
// A waiter gives up where both parts let it: C-TAS-MCS and C-MCS-MCS. As in a tree of queues
// (hmcs.go), a rank that gives up in the global lock lets go of the local one. A holder that
// knows of waiters may find that all of them have gone. Then it lets go of both locks. The next
// rank of the element finds an abandoned node in a global MCS queue (abortQueue.looks). The other
// local locks know of no way out: their rows say never (docs/decisions/locks-left-out.md).
type cohort struct {
	side
	pair
}

// pair is a local lock below a global one, for a rank: the algorithm of C-G-L. It is a part, too,
// and so the global lock of a pair below it: see clof.go.
type pair struct {
	local
	global       part
	lock         *side // of the rank
	outer        *side // the lock's side, or the side of the part which the pair is
	below, above side  // the parts'
	tl           uint64
	passed       uint64      // CountInline: passes in a row, when the rank acquired
	count        word        // the other CohortCounts,
	apart        bool        // and whether it is one of them
	queue        *abortQueue // the local part, if it is MCS
	mayQuit      bool        // waiters give up
}

// newCohort is the lock for a rank. The locals' homes are the elements' tail ranks, so that
// every rank has room for one; the last word of each part is a count.
func newCohort(g cohortGlobal, l cohortLocal) func(*Lock, rma.Window) Mutex {
	return func(lock *Lock, w rma.Window) Mutex {
		c := padded(cohort{})
		c.init(lock, w)
		c.lock, c.outer = &c.side, &c.side
		n := c.topo.Levels()
		tail := c.topo.TailRank(n, c.topo.Element(c.rank, n))
		c.tl = uint64(c.o.TL[n-1])

		globalRank := l.words.Home + l.words.Rank
		c.initPart(&c.below, tail, base{c.base.rank, c.base.rank + rma.Disp(l.words.Home)})
		c.initPart(&c.above, c.home, base{c.base.home, c.base.rank + rma.Disp(globalRank)})
		c.local = l.new(&c.below)
		c.queue, _ = c.local.(*abortQueue)
		c.global = g.new(&c.above, tail)
		if givesUp(g, l) {
			c.mayGiveUp()
		}

		c.apart = c.o.Count != CountInline
		switch m := &c.memory; c.o.Count {
		case CountDirect:
			c.count = m.at(tail, globalRank+g.words.Rank)
		case CountLocal:
			c.count = m.operated(tail, m.base.rank+rma.Disp(globalRank+g.words.Rank))
		case CountGlobal:
			c.count = m.operated(m.home, m.base.home+rma.Disp(g.words.Home))
		}
		return c
	}
}

func wordsOfCohort(g cohortGlobal, l cohortLocal) func(*topology.Tree, Options) Words {
	return func(*topology.Tree, Options) Words {
		return Words{Home: g.words.Home + 1, Rank: l.words.Home + l.words.Rank + g.words.Rank + 1}
	}
}

// Acquire implements Mutex.
func (c *cohort) Acquire(ctx context.Context) error {
	if c.hindered() || ctx.Err() != nil {
		if err := c.arrive(ctx); err != nil {
			return err
		}
	}
	e, err := c.come(ctx)
	if err != nil {
		return c.fail(err)
	}
	c.came(writing, e)
	return nil
}

// come returns when the rank has both locks, or was left the global one.
func (p *pair) come(ctx context.Context) (e entry, err error) {
	grant, err := p.local.enter(p.patience(ctx))
	if err != nil {
		return e, err
	}
	e.waited, e.upper = grant != none, grant <= climb
	if p.passed = 0; !e.upper {
		p.passed = grant - climb
		return e, nil
	}
	if e.grant, err = p.global.enter(p.patience(ctx)); err != nil && !p.lock.broken() {
		p.local.leave(climb)
	}
	e.upper = e.grant <= climb
	return e, err
}

// TryAcquire implements Tryer.
func (c *cohort) TryAcquire() bool {
	return c.begin(forever()) == nil && c.pair.tryEnter() && c.tried(writing, true)
}

// tryEnter implements part.
func (p *pair) tryEnter() bool {
	if !p.local.tryEnter() {
		return false
	}
	if !p.global.tryEnter() {
		p.local.leave(climb)
		return false
	}
	p.passed = 0
	return true
}

// Release implements Mutex.
func (c *cohort) Release() {
	if c.complete(); c.ends(writing) || c.end(writing) {
		c.pair.leave(granted)
	}
}

// leave implements part.
func (p *pair) leave(uint64) {
	succ := uint64(0) // the neighbour that waits, if they queue
	if p.queue != nil {
		succ = p.queue.behind.Load()
	}
	if succ != 0 || p.queue == nil && !p.local.alone() {
		if passed := p.passes(); passed+1 < p.tl && p.pass(succ, passed+1) {
			p.lock.counts.passed.Inc()
			p.mergeReturns()
			return
		}
	}
	if p.apart {
		p.count.Store(0)
	}
	p.global.leave(granted)
	p.local.leave(climb)
	p.mergeReturns()
}

// pass gives the local lock to a neighbour, for the n-th time in a row, and reports whether
// there was one that still wants it.
func (p *pair) pass(succ, n uint64) bool {
	if p.apart {
		p.count.Store(n)
	}
	if p.queue != nil {
		return p.queue.pass(succ, n+climb)
	}
	p.local.leave(n + climb)
	return true
}

// patience is the context of a wait.
func (p *pair) patience(ctx context.Context) context.Context {
	if !p.mayQuit {
		return forever()
	}
	return ctx
}

// mergeReturns notes whether either part has handed over.
func (p *pair) mergeReturns() {
	p.outer.returnsAt = min(p.outer.returnsAt, p.below.returnsAt, p.above.returnsAt)
	p.below.returnsAt, p.above.returnsAt = never, never
}

// passes is how often the lock has been passed on in a row.
func (p *pair) passes() uint64 {
	if p.apart {
		return p.count.Load()
	}
	return p.passed
}

// Alone implements Cohort.
func (c *cohort) Alone() bool { return c.local.alone() }

// givesUp reports whether waiters of a cohort lock give up.
func givesUp(g cohortGlobal, l cohortLocal) bool {
	return l.name == "MCS" && (g.name == "TAS" || g.name == "MCS")
}

// mayGiveUp lets waiters give up in both parts.
func (p *pair) mayGiveUp() {
	p.mayQuit = true
	if global, ok := p.global.(*abortQueue); ok {
		global.looks = true
	}
}

// sharedQueue is a queue with one node for each element, whose tail is some word of the lock.
func sharedQueue(s *side, tail word, node Rank, base int) *abortQueue {
	q := padded(newAbortQueue(s, tail, node, base))
	q.shared = true
	return q
}

// ownQueue is a queue with one node for each rank. The element remembers which node is
// queued.
type ownQueue struct {
	abortQueue
	owner word
}

func newOwnQueue(s *side, element Rank) part {
	return padded(ownQueue{abortQueue: newAbortQueue(s, s.atHome(0), s.rank, 0), owner: s.at(element, nodeWords)})
}

func (q *ownQueue) enter(ctx context.Context) (grant uint64, err error) {
	if grant, err = q.abortQueue.enter(ctx); err == nil {
		q.owner.Store(q.name)
	}
	return grant, err
}

func (q *ownQueue) tryEnter() bool {
	if !q.abortQueue.tryEnter() {
		return false
	}
	q.owner.Store(q.name)
	return true
}

func (q *ownQueue) leave(grant uint64) {
	owner := q.owner.Load()
	if owner == q.name || owner == 0 { // zero: the window has failed
		q.abortQueue.leave(grant)
		return
	}
	theirs := newAbortQueue(q.side, q.tail, Rank(owner-1), q.base)
	theirs.leave(grant)
}

// cohortLocal and cohortGlobal are the locks that a cohort is made of.
type cohortLocal struct {
	name  string
	words Words
	new   func(*side) local
	cost  Cost
	// For CLoF: the words that an element remembers, how many words alone reads, and what the lock
	// costs an element, uncontended.
	memo, look int
	element    Operations
}

type cohortGlobal struct {
	name  string
	words Words
	// new makes the lock for a rank. The memory of rank node holds the element's share.
	new      func(s *side, node Rank) part
	fairness string     // its own, between elements
	cost     Operations // uncontended
}

func cohortGlobals() []cohortGlobal {
	return []cohortGlobal{
		{"TAS", Words{Home: 1}, func(s *side, _ Rank) part { t := newSpin(s, false); return &t },
			"none: TAS goes to any rank, after T_L,N in a row", Operations{Atomics: 1, Puts: 1}},
		{"TKT", wordsOfTKT(nil, Options{}), func(s *side, _ Rank) part { return newTKTPart(s) },
			"T_L,N in a row", Operations{Atomics: 2, Gets: 1}},
		{"MCS", Words{Home: 1, Rank: nodeWords + 1}, func(s *side, node Rank) part {
			if s.o.OwnNode {
				return newOwnQueue(s, node)
			}
			return sharedQueue(s, s.atHome(0), node, 0)
		}, "T_L,N in a row", Operations{Atomics: 2, Gets: 1}},
		{"P2P", Words{Home: 1, Rank: nodeWords}, newP2P, "T_L,N in a row", Operations{Atomics: 2, Gets: 1}},
	}
}

func cohortLocals() []cohortLocal {
	return []cohortLocal{
		{"TTS", wordsOfTTS(nil, Options{}), newTTS,
			Cost{Uncontended: Operations{Atomics: 1, Puts: 1, Gets: 2}, Contended: Operations{Atomics: 1, Puts: 3, Gets: 3, Unbounded: true}},
			0, 1, Operations{Atomics: 1, Puts: 1, Gets: 1}},
		{"TKT", wordsOfTKT(nil, Options{}), newTKTPart,
			Cost{Uncontended: Operations{Atomics: 2, Gets: 3}, Contended: Operations{Atomics: 2, Gets: 4}},
			1, 2, Operations{Atomics: 2, Gets: 3}},
		{"MCS", Words{Home: 1, Rank: nodeWords}, func(s *side) local { return padded(newAbortQueue(s, s.atHome(0), s.rank, 0)) },
			Cost{Uncontended: Operations{Atomics: 2}, Contended: Operations{Atomics: 1, Puts: 2}},
			0, 1, Operations{Atomics: 2, Gets: 1}},
		{"CLH", wordsOfCLH(nil, Options{}), newCLHPart,
			Cost{Uncontended: Operations{Atomics: 1, Puts: 1, Gets: 2}, Contended: Operations{Atomics: 1, Puts: 1, Gets: 3}},
			2, 1, Operations{Atomics: 1, Puts: 3, Gets: 5}},
		{"HEM", Words{Home: 1, Rank: 1}, newHemPart(hemVariant{ctr: true}),
			Cost{Uncontended: Operations{Atomics: 2, Gets: 1}, Contended: Operations{Atomics: 3, Gets: 2}},
			1, 1, Operations{Atomics: 2, Puts: 1, Gets: 2}},
		{"HEM-AH", Words{Home: 1, Rank: 1}, newHemPart(hemVariant{ctr: true, ah: true}),
			Cost{Uncontended: Operations{Atomics: 2, Gets: 1}, Contended: Operations{Atomics: 3, Gets: 2}},
			1, 1, Operations{Atomics: 3, Puts: 2, Gets: 2}},
		{"Reciprocating", wordsOfReciprocating(nil, Options{}), newReciprocalPart,
			Cost{Uncontended: Operations{Atomics: 2, Gets: 1}, Contended: Operations{Atomics: 2, Gets: 1}},
			1, 1, Operations{Atomics: 2, Gets: 2}},
	}
}

// cohorts are the rows of the table: every global lock with every local one.
func cohorts() (rows []Spec) {
	for _, g := range cohortGlobals() {
		for _, l := range cohortLocals() {
			if l.name == "HEM-AH" && g.name != "MCS" || g.name == "P2P" && l.name != "MCS" && l.name != "HEM" || l.name == "Reciprocating" {
				continue // the thesis has no such lock
			}
			options := []string{"TL", "Count"}
			if g.name == "MCS" {
				options = append(options, "OwnNode")
			}
			row := Spec{
				Name: "C-" + g.name + "-" + l.name, Paper: "Uffmann22 §5.4", About: "cohort lock, " + g.name + " over " + l.name,
				Fairness: g.fairness, Options: options, Words: wordsOfCohort(g, l), at: newCohort(g, l),
				Cost: Cost{Uncontended: g.cost.plus(l.cost.Uncontended), Contended: l.cost.Contended},
			}
			if l.name == "TTS" && g.name != "TAS" {
				row.Fairness += "; inside an element none"
			}
			if givesUp(g, l) {
				row.Aborts = Always
				if g.name == "MCS" { // the look at the element's node
					row.Cost.Uncontended.Gets++
				}
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// plus is the sum of two locks' operations.
func (o Operations) plus(p Operations) Operations {
	return Operations{o.Atomics + p.Atomics, o.Puts + p.Puts, o.Gets + p.Gets, o.Unbounded || p.Unbounded}
}
