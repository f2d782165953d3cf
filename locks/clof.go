package locks

import (
	"context"
	"slices"
	"strings"

	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// CLoF-X-Y-...-Z is a cohort lock of any number of levels, with any lock at each level (Chehab,
// Paolillo, Behrens, Fu, Härtig and Chen: CLoF, SOSP'21). It is the pair of cohort.go, with
// another pair as its global lock: the ranks of the upper one are elements.
//
//	CLoF-TKT-MCS-CLH        TKT  (home)              one for all
//	                      /     \
//	                   MCS       MCS                 one for each element of a middle level
//	                  /   \     /   \
//	                CLH  CLH  CLH  CLH               one for each element of the finest level
//
// The names go from coarse to fine, as in C-G-L; the paper's go the other way. The first lock
// belongs to level 1, the last one to the finest level, the one before it to the next coarser
// level, and so on. If the machine has fewer levels, the locks that are too many belong to level 1.
//
// An element has one place in a lock, its node, at its tail rank. One rank of it may enter, and another
// one leave. So what a rank remembers between the two has to be in memory, beside the node. The
// paper calls it the context:
//
//	TTS, MCS        none
//	TKT             the grant that came with the ticket
//	CLH             the nodes: the own one, and the predecessor's
//	HEM, HEM-AH     the turn
//	Reciprocating   the successor, the end of the segment, and whether the gate has a grant
//
// The number of passes in a row is in the grant at the finest level (CountInline), and above it in
// a word of the element (CountDirect).
//
// A waiter does not give up: see docs/decisions/locks-left-out.md.
//
// Invariant: pair's at each level. Only the rank that has an element's lock touches the element's
// context, count and node.
//
// Memory order: a context is flushed before the rank lets go of the lock below.
//
// Fairness: each lock keeps its own between the elements, or ranks, that compete for it. At most
// T_L,i acquisitions follow each other inside an element of level i.
//
// Cost, away from home: each lock costs what it costs alone, and a Get or a Put for each word of a
// context that the rank reads or changes. With a neighbour waiting only the last lock costs.

// memo is what the ranks of an element remember of a part, in words. Zeroes are the memo of a part
// that no rank has entered yet.
type memo [2]uint64

// remembering is a part with something to remember between enter and leave.
type remembering interface {
	local
	// memo is what the rank remembers, and resume makes it another one's.
	memo() memo
	resume(memo)
}

// ofElement is a remembering part for the ranks of an element, which have one place in it.
type ofElement struct {
	remembering
	words [len(memo{})]word
	n     int  // of the words
	last  memo // what the rank has read
	fresh bool // alone has read last
}

// newOfElement gives the part for an element whose context is the words from w on.
func newOfElement(p local, n int, at func(int) word) local {
	e := &ofElement{n: n}
	var remembers bool
	if e.remembering, remembers = p.(remembering); !remembers {
		return p
	}
	for i := range n {
		e.words[i] = at(i)
	}
	return padded(*e)
}

// read makes the rank remember what the last rank of the element has remembered.
func (e *ofElement) read() {
	for i := range e.n {
		e.last[i] = e.words[i].Load()
	}
	e.resume(e.last)
}

// write leaves what the rank remembers to the next one. The rank has read before.
func (e *ofElement) write() {
	now := e.memo()
	for i := range e.n {
		if now[i] != e.last[i] {
			e.words[i].Store(now[i])
		}
	}
}

// enter implements part.
func (e *ofElement) enter(ctx context.Context) (grant uint64, err error) {
	e.read()
	if grant, err = e.remembering.enter(ctx); err == nil {
		e.write()
	}
	return grant, err
}

// tryEnter implements part.
func (e *ofElement) tryEnter() bool {
	e.read()
	if !e.remembering.tryEnter() {
		return false
	}
	e.write()
	return true
}

// alone implements local. A leave follows.
func (e *ofElement) alone() bool {
	e.read()
	e.fresh = true
	return e.remembering.alone()
}

// leave implements part.
func (e *ofElement) leave(grant uint64) {
	if !e.fresh {
		e.read()
	}
	e.fresh = false
	e.remembering.leave(grant)
	e.write()
}

func (t *tickets) memo() memo    { return memo{t.grant} }
func (t *tickets) resume(m memo) { t.grant = m[0] }

func (q *hemQueue) memo() memo    { return memo{q.name & hemTurn} }
func (q *hemQueue) resume(m memo) { q.name = q.name&^hemTurn | m[0] }

func (c *clhQueue) memo() memo { return memo{c.own().name, c.other().name} }

func (c *clhQueue) resume(m memo) {
	if m[0] == 0 {
		return // the nodes are as newCLHQueue has made them
	}
	c.mine = 0
	for i := range c.nodes {
		c.nodes[i].name = m[i]
		c.find(&c.nodes[i], m[i])
	}
}

// The memo of Reciprocating.
const (
	recStale = 1 << 32 // below the name of the successor
	recSucc  = 32      // shift
)

func (r *reciprocal) memo() memo {
	m := r.succ<<recSucc | r.stop
	if r.stale {
		m |= recStale
	}
	return memo{m}
}

func (r *reciprocal) resume(m memo) {
	r.stale = m[0]&recStale != 0
	r.succ, r.stop = m[0]&^recStale>>recSucc, m[0]&recName
}

// newCLoF is the lock of those parts, from coarse to fine.
func newCLoF(parts []cohortLocal) func(*Lock, rma.Window) Mutex {
	return func(lock *Lock, w rma.Window) Mutex {
		c := padded(cohort{})
		c.init(lock, w)
		f := clof{parts: parts, lock: &c.side}
		words := 0
		for k := range parts {
			f.levels = append(f.levels, max(1, c.topo.Levels()-(len(parts)-1-k)))
			f.words = append(f.words, words)
			words += wordsOfLevel(parts, k)
		}
		f.levels[0] = 1
		f.compose(&c.pair, &c.side, len(parts)-1)
		return c
	}
}

// clof makes the pairs of a lock, for a rank.
type clof struct {
	parts  []cohortLocal // from coarse to fine; so are
	levels []int         // the levels of the topology, and
	words  []int         // where the words of a part begin among a rank's
	lock   *side
}

// wordsOfLevel are the words of the k-th part at each rank: its home, its node, its context and
// its count. The lock's home has those of the coarsest. The finest has neither context nor count.
func wordsOfLevel(parts []cohortLocal, k int) int {
	p := parts[k]
	words := p.words.Home + p.words.Rank
	if k == 0 {
		words = p.words.Rank
	}
	if k < len(parts)-1 {
		words += p.memo + 1
	}
	return words
}

func wordsOfCLoF(parts []cohortLocal) func(*topology.Tree, Options) Words {
	return func(*topology.Tree, Options) Words {
		words := Words{Home: parts[0].words.Home}
		for k := range parts {
			words.Rank += wordsOfLevel(parts, k)
		}
		return words
	}
}

// tail is the rank that keeps the node, and all else, of the rank's element of the k-th part.
func (f *clof) tail(k int) Rank {
	level := f.levels[k]
	return f.lock.topo.TailRank(level, f.lock.topo.Element(f.lock.rank, level))
}

// compose makes p the pair of the k-th part over those before it, which are inside outer's lock.
func (f *clof) compose(p *pair, outer *side, k int) {
	p.lock, p.outer, p.tl = f.lock, outer, uint64(f.lock.o.TL[f.levels[k]-1])
	p.local = f.part(&p.below, k)
	p.queue, _ = p.local.(*abortQueue)
	if p.apart = k < len(f.parts)-1; p.apart {
		p.count = f.lock.at(f.tail(k), f.words[k]+wordsOfLevel(f.parts, k)-1)
	}
	if k == 1 {
		p.global = f.part(&p.above, 0)
		return
	}
	f.lock.initPart(&p.above, f.lock.home, f.lock.base)
	above := padded(pair{})
	f.compose(above, &p.above, k-1)
	p.global = above
}

// part makes the k-th part, whose side is s.
func (f *clof) part(s *side, k int) local {
	p, lock := f.parts[k], f.lock
	at := base{lock.base.home, lock.base.rank + rma.Disp(f.words[k])}
	home := lock.home
	if k > 0 {
		home, at.home = f.tail(k), at.rank
		at.rank += rma.Disp(p.words.Home)
	}
	lock.initPart(s, home, at)
	if k == len(f.parts)-1 {
		return p.new(s)
	}
	s.rank = f.tail(k + 1) // the node's
	made := p.new(s)
	if queue, ok := made.(*abortQueue); ok {
		queue.shared = true
	}
	return newOfElement(made, p.memo, func(i int) word { return s.at(s.rank, p.words.Rank+i) })
}

// enter implements part, for the ranks of an element. A grant of more than climb says that the
// global lock came along.
func (p *pair) enter(ctx context.Context) (grant uint64, err error) {
	e, err := p.come(ctx)
	switch {
	case !e.upper:
		return climb + 1, err
	case e.waited:
		return granted, err
	}
	return e.grant, err
}

// cloFs are the rows of the table: some of the locks CLoF-X-Y-Z. ByName makes any other.
func cloFs() (rows []Spec) {
	for _, name := range []string{"CLoF-TKT-MCS-CLH", "CLoF-MCS-CLH-HEM", "CLoF-HEM-Reciprocating-TKT"} {
		if row, ok := cloFByName(nil, name); ok {
			rows = append(rows, row)
		}
	}
	return rows
}

// mostCLoF is how many locks a name may have.
const mostCLoF = 8

// cloFByName is the lock CLoF-X-Y-..., of two parts at least.
func cloFByName(_ []Spec, name string) (Spec, bool) {
	rest, ok := strings.CutPrefix(name, "CLoF")
	var parts []cohortLocal
	for ok && rest != "" {
		var next cohortLocal
		for _, p := range cohortLocals() {
			after, has := strings.CutPrefix(rest, "-"+p.name)
			if has && (after == "" || after[0] == '-') && len(p.name) > len(next.name) {
				next = p
			}
		}
		ok = next.name != ""
		rest = strings.TrimPrefix(rest, "-"+next.name)
		parts = append(parts, next)
	}
	if !ok || len(parts) < 2 || len(parts) > mostCLoF {
		return Spec{}, false
	}
	return cloFOf(name, parts), true
}

func cloFOf(name string, parts []cohortLocal) Spec {
	finest := parts[len(parts)-1]
	row := Spec{
		Name: name, Paper: "Chehab et al., SOSP'21", About: "cohort lock of any locks, one for each level",
		Fairness: "T_L,i in a row", Options: []string{"TL"}, Words: wordsOfCLoF(parts), at: newCLoF(parts),
		Cost: Cost{Uncontended: finest.cost.Uncontended, Contended: finest.cost.Contended},
	}
	for k, p := range parts[:len(parts)-1] {
		row.Cost.Uncontended = row.Cost.Uncontended.plus(p.element)
		if k > 0 { // it looks whether elements wait, and sets the count to zero
			row.Cost.Uncontended = row.Cost.Uncontended.plus(Operations{Gets: p.look, Puts: 1})
		}
	}
	if finest.name == "Reciprocating" { // the place in the segment decides which rank releases the other locks
		row.Cost.Contended = Operations{Atomics: 1, Unbounded: true}
	}
	if slices.ContainsFunc(parts, func(p cohortLocal) bool { return p.name == "TTS" }) {
		row.Fairness += "; where TTS is, none"
	}
	return row
}
