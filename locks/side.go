package locks

import (
	"context"
	"math"

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
	if s.failed.Load() {
		if err := s.intact(); err != nil {
			return err
		}
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

// ends is end where an operation is complete when it returns and the window has not failed. It
// reports false if end has to look.
func (s *side) ends(m mode) bool {
	if s.mode != m || !s.immediate || s.failed.Load() {
		return false
	}
	s.mode = free
	return true
}

// end is the beginning of every release. It completes what the rank did under the lock,
// before another rank hears of the release, and reports whether all of it was done. If
// not, because the window has failed, the section may be half done: the release hands
// over nothing, so that no rank sees the half.
func (s *side) end(m mode) (whole bool) {
	if s.mode != m {
		s.misuse("releases a lock that it does not hold so")
	}
	s.w.FlushAll()
	s.mode = free
	return !s.broken()
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
