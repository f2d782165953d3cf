package locks

import (
	"context"
	"math"
	"sync/atomic"

	"github.com/orwl/go-orwl/internal/tally"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// side is what one rank's side of every lock has besides its algorithm: the rules that
// all locks share.
//
//	          Acquire: arrive, the algorithm, acquired
//	    ┌───────────────────────────────────────────────▶
//	free                                                 writing or reading
//	    ◀───────────────────────────────────────────────┘
//	          Release: end, the algorithm
//
// When the window fails, the lock is broken for good: begin refuses, decided takes back
// what the algorithm believes, and end tells Release to hand over nothing.
type side struct {
	memory
	o      *Options
	topo   *topology.Tree
	rank   Rank
	number uint64 // of the lock in its set, from 1
	mode   mode
	counts counts

	// Acquired at the last call of rma.Considerate.Returns, and at the next.
	returnedAt, returnsAt uint64
}

// mode is how a rank holds a lock.
type mode uint8

const (
	free mode = iota
	writing
	reading
)

// never is a number of acquisitions that no rank reaches.
const never = math.MaxUint64

// counts is Counts, which the rank writes and any goroutine may read.
type counts struct {
	acquired, waited, upper, upperWaited, passed, broken tally.Count
}

// init makes s the side of w's rank of a lock.
func (s *side) init(l *Lock, w rma.Window) {
	s.memory, s.o, s.topo, s.rank, s.number, s.returnsAt = l.newMemory(w), &l.o, l.tree, w.Rank(), l.number, never
}

// initPart makes p the same rank's side of a lock inside s's lock.
func (s *side) initPart(p *side, home Rank, at base) {
	p.memory, p.o, p.topo, p.rank, p.number, p.returnsAt = s.memory, s.o, s.topo, s.rank, s.number, never
	p.home, p.base = home, at
}

// begin is the beginning of every acquire. Nothing has been done yet.
func (s *side) begin(ctx context.Context) error {
	if s.mode != free {
		s.misuse("acquires a lock that it holds: release it first")
	}
	if err := s.decided(); err != nil {
		return err
	}
	return ctx.Err()
}

// hindered reports whether arrive has something to do besides a look at the context. Like ends it
// is so small that the compiler puts it into each caller.
func (s *side) hindered() bool {
	return s.mode != free || s.failed.Load() || s.counts.acquired.Own() >= s.returnsAt
}

// arrive is begin for an acquire that may wait. It lets other ranks go first, if the
// window says that this pays.
func (s *side) arrive(ctx context.Context) error {
	if s.counts.acquired.Own() >= s.returnsAt {
		s.returns()
		// The window may have failed meanwhile: begin looks.
	}
	return s.begin(ctx)
}

// handedOver reports to the window that the rank has handed the lock to another one.
func (s *side) handedOver() {
	if s.beside != nil {
		s.returnsAt = 0
		s.beside.HandedOver()
	}
}

func (s *side) returns() {
	now := s.counts.acquired.Own()
	turns := now - s.returnedAt
	s.returnedAt, s.returnsAt = now, never
	if again := s.beside.Returns(int(turns)); again > 0 {
		s.returnsAt = now + uint64(again)
	}
}

// decided returns an error if the window has failed. An algorithm asks it where an
// answer of zero would mean that the rank has the lock: operations of a failed window
// answer zero, too.
func (s *side) decided() error {
	if !s.failed.Load() {
		return nil
	}
	return s.intact()
}

func (s *side) intact() error {
	if err := s.w.Err(); err != nil {
		return s.brokenBy(err)
	}
	return nil
}

// fail is the error of an acquire whose await returned err: the context's error as it
// is, or a *BrokenError.
func (s *side) fail(err error) error {
	if s.w.Err() != nil {
		return s.brokenBy(s.w.Err())
	}
	return err
}

func (s *side) brokenBy(cause error) error {
	s.counts.broken.Inc()
	return &BrokenError{Lock: s.o.Name, Rank: s.rank, Cause: cause}
}

// acquired is the end of every acquire that succeeded.
func (s *side) acquired(m mode, waited bool) {
	s.mode = m
	s.counts.acquired.Inc()
	if waited {
		s.counts.waited.Inc()
	}
}

// part is the algorithm of an exclusive lock as a part of a cohort lock. A lock that stands alone
// calls the methods directly. A grant is a number that a holder leaves to the next one: none
// if it was left to no rank, and granted if it says nothing.
type part interface {
	// enter returns with the lock and what the predecessor left.
	enter(ctx context.Context) (grant uint64, err error)
	// tryEnter takes the lock if it is free.
	tryEnter() bool
	// leave gives the lock to a successor, with a grant, or to no rank.
	leave(grant uint64)
}

const (
	none    = 0
	granted = 1
)

// try is Tryer for an exclusive lock whose algorithm is p.
func (s *side) try(p part) bool {
	return s.begin(forever()) == nil && s.tried(writing, p.tryEnter())
}

// entered is the end of an acquire by a part's enter.
func (s *side) entered(grant uint64, err error) error {
	if err == nil {
		s.acquired(writing, grant != none)
	}
	return err
}

// tried is the end of a try, and reports whether it succeeded.
func (s *side) tried(m mode, ok bool) bool {
	if ok {
		s.acquired(m, false)
	}
	return ok
}

// end is the beginning of every release. It completes what the rank did under the lock,
// before another rank hears of the release, and reports whether all of it was done. If
// not, because the window has failed, the section may be half done: the release hands
// over nothing, so that no rank sees the half.
func (s *side) end(m mode) (whole bool) {
	s.complete()
	if s.mode != m {
		s.misuse("releases a lock that it does not hold so")
	}
	s.mode = free
	return !s.broken()
}

// complete completes what the rank did under the lock.
func (s *side) complete() {
	if !s.immediate {
		s.w.FlushAll()
	}
}

// ends is end after complete, if the window has not failed. It reports false if end has to look.
func (s *side) ends(m mode) bool {
	if s.mode != m || s.failed.Load() {
		return false
	}
	s.mode = free
	return true
}

// disown and adopt are Oblivious, for the locks that have it.
func (s *side) disown() {
	if s.mode != writing {
		s.misuse("disowns a lock that it does not hold")
	}
	s.mode = free
}

func (s *side) adopt() {
	if s.mode != free {
		s.misuse("adopts a lock that it holds")
	}
	s.mode = writing
}

// Counts implements Counter.
func (s *side) Counts() Counts {
	c := &s.counts
	return Counts{c.acquired.Load(), c.waited.Load(), c.upper.Load(), c.upperWaited.Load(), c.passed.Load(), c.broken.Load()}
}

//go:noinline
func (s *side) misuse(what string) {
	panic(&MisuseError{Lock: s.o.Name, Rank: s.rank, What: what})
}

// line is the length of a cache line in bytes.
const line = 64

// padded is v with a cache line behind it, so that it shares none with the next thing in
// memory: a rank writes its side in every turn.
func padded[T any](v T) *T {
	lines := &struct {
		v T
		_ [line]byte
	}{v: v}
	return &lines.v
}

// memory is one rank's access to the words of a lock.
type memory struct {
	w      rma.Window
	shared rma.Shared      // nil: every word is reached by operations
	beside rma.Considerate // nil: the window does not know when to stay away
	ops    rma.Atomics     // the window's operations
	// immediate says that an operation is complete when it returns: a flush does nothing.
	immediate bool
	failed    *atomic.Bool // the window's; always true if only the window knows
	home      Rank         // of the words that the lock has once
	base      base
}

// base is where a lock's words begin, at its home and at every rank.
type base struct{ home, rank rma.Disp }

// newMemory is the access of w's rank.
func (l *Lock) newMemory(w rma.Window) memory {
	m := memory{w: w, home: l.o.Home, base: l.base}
	m.beside, _ = w.(rma.Considerate)
	_, m.immediate = w.(rma.Immediate)
	if shared, ok := w.(rma.Shared); !ok {
		m.failed = new(atomic.Bool)
		m.failed.Store(true)
	} else if m.failed = shared.Failed(); !l.o.Operations {
		m.shared = shared
	}
	m.ops = &operations{w, m.failed}
	return m
}

// broken reports whether the window has failed.
func (m *memory) broken() bool { return m.failed.Load() && m.w.Err() != nil }

// atHome is the i-th word at the lock's home.
func (m *memory) atHome(i int) word { return m.word(m.home, m.base.home+rma.Disp(i)) }

// at is the i-th word of rank p.
func (m *memory) at(p Rank, i int) word { return m.word(p, m.base.rank+rma.Disp(i)) }

func (m *memory) word(target Rank, disp rma.Disp) word {
	if m.shared != nil {
		if x, ok := m.shared.Direct(target, disp); ok {
			return word{Word: x, m: m, direct: true}
		}
	}
	return m.operated(target, disp)
}

// operated is a word that is reached by operations in any case.
func (m *memory) operated(target Rank, disp rma.Disp) word {
	return word{Word: rma.WordBy(m.ops, target, disp), m: m}
}

// word is one word of a lock. Where ranks share memory, its methods are atomic
// instructions; elsewhere they are operations of the window, complete on return.
//
// An instruction wakes no rank. After one that another rank may await, an algorithm
// calls wake; or it uses publish or accumulate, which wake everywhere.
type word struct {
	rma.Word
	m      *memory
	direct bool // reached by atomic instructions
}

// publish sets a word that another rank may await.
func (x *word) publish(v uint64) {
	x.m.w.Put(x.Target, x.Disp, v)
	x.m.w.Flush(x.Target)
}

// accumulate adds to a word that another rank may await.
func (x *word) accumulate(delta uint64) {
	x.m.w.Accumulate(x.Target, x.Disp, rma.Sum, delta)
	x.m.w.Flush(x.Target)
}

// wake wakes the ranks that await the word and can go on, after an instruction. An
// operation has done so already.
func (x *word) wake() {
	if x.direct {
		x.m.shared.Notify(x.Target, x.Disp)
	}
}

// mustTell reports whether a rank that has changed the word by an instruction has to look
// for the rank that it concerns: to wake it, or to report a hand-over.
func (x *word) mustTell() bool { return x.direct || x.m.beside != nil }

// await is Window.Await on the word.
func (x *word) await(ctx context.Context, until rma.Until) (uint64, error) {
	return x.m.w.Await(ctx, x.Target, x.Disp, until)
}

// forever is the context of a wait that nothing but a failure of the window ends.
func forever() context.Context { return context.Background() }

// operations accesses words by a window's operations. On a window that has failed they
// do nothing: a load, a swap and an addition return zero, and a CAS fails.
type operations struct {
	w      rma.Window
	failed *atomic.Bool // memory's
}

func (o *operations) Load(p Rank, d rma.Disp) uint64 { return o.w.Get(p, d) }

func (o *operations) Store(p Rank, d rma.Disp, v uint64) {
	o.w.Put(p, d, v)
	o.w.Flush(p)
}

func (o *operations) Swap(p Rank, d rma.Disp, v uint64) uint64 {
	return o.w.FetchOp(p, d, rma.Replace, v)
}

func (o *operations) Add(p Rank, d rma.Disp, delta uint64) uint64 {
	return o.w.FetchOp(p, d, rma.Sum, delta)
}

func (o *operations) CompareAndSwap(p Rank, d rma.Disp, old, new uint64) bool {
	return o.w.CAS(p, d, old, new) == old && (!o.failed.Load() || o.w.Err() == nil)
}
