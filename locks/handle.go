package locks

import (
	"context"
	"math"

	"github.com/orwl/go-orwl/internal/tally"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

// handle is what one rank's side of every lock has besides its algorithm: the rules that
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
type handle struct {
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

// init makes h the side of w's rank of a lock.
func (h *handle) init(l *Lock, w rma.Window) {
	h.memory, h.o, h.topo, h.rank, h.number, h.returnsAt = l.newMemory(w), &l.o, l.tree, w.Rank(), l.number, never
}

// initPart makes p the same rank's side of a lock inside h's lock.
func (h *handle) initPart(p *handle, home Rank, at base) {
	p.memory, p.o, p.topo, p.rank, p.number, p.returnsAt = h.memory, h.o, h.topo, h.rank, h.number, never
	p.home, p.base = home, at
}

// begin is the beginning of every acquire. Nothing has been done yet.
func (h *handle) begin(ctx context.Context) error {
	if h.mode != free {
		h.misuse("acquires a lock that it holds: release it first")
	}
	if err := h.decided(); err != nil {
		return err
	}
	return ctx.Err()
}

// arrive is begin for an acquire that may wait. It lets other ranks go first, if the
// window says that this pays.
func (h *handle) arrive(ctx context.Context) error {
	if h.counts.acquired.Own() >= h.returnsAt {
		h.returns()
		// The window may have failed meanwhile: begin looks.
	}
	return h.begin(ctx)
}

// handedOver reports to the window that the rank has handed the lock to another one.
func (h *handle) handedOver() {
	if h.beside != nil {
		h.returnsAt = 0
		h.beside.HandedOver()
	}
}

func (h *handle) returns() {
	now := h.counts.acquired.Own()
	turns := now - h.returnedAt
	h.returnedAt, h.returnsAt = now, never
	if again := h.beside.Returns(int(turns)); again > 0 {
		h.returnsAt = now + uint64(again)
	}
}

// decided returns an error if the window has failed. An algorithm asks it where an
// answer of zero would mean that the rank has the lock: operations of a failed window
// answer zero, too.
func (h *handle) decided() error {
	if !h.failed.Load() {
		return nil
	}
	return h.intact()
}

func (h *handle) intact() error {
	if err := h.w.Err(); err != nil {
		return h.brokenBy(err)
	}
	return nil
}

// fail is the error of an acquire whose await returned err: the context's error as it
// is, or a *BrokenError.
func (h *handle) fail(err error) error {
	if h.w.Err() != nil {
		return h.brokenBy(h.w.Err())
	}
	return err
}

func (h *handle) brokenBy(cause error) error {
	h.counts.broken.Inc()
	return &BrokenError{Lock: h.o.Name, Rank: h.rank, Cause: cause}
}

// acquired is the end of every acquire that succeeded.
func (h *handle) acquired(m mode, waited bool) {
	h.mode = m
	h.counts.acquired.Inc()
	if waited {
		h.counts.waited.Inc()
	}
}

// part is the algorithm of an exclusive lock, alone or as a part of a cohort lock. A grant is a
// number that a holder leaves to the next one: none if it was left to no rank, and granted if
// it says nothing.
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

// acquire, try and release are Mutex and Tryer for an exclusive lock whose algorithm is p.
func (h *handle) acquire(ctx context.Context, p part) error {
	if err := h.arrive(ctx); err != nil {
		return err
	}
	grant, err := p.enter(ctx)
	if err == nil {
		h.acquired(writing, grant != none)
	}
	return err
}

func (h *handle) try(p part) bool {
	return h.begin(forever()) == nil && h.tried(writing, p.tryEnter())
}

func (h *handle) release(p part) {
	if h.end(writing) {
		p.leave(granted)
	}
}

// tried is the end of a try, and reports whether it succeeded.
func (h *handle) tried(m mode, ok bool) bool {
	if ok {
		h.acquired(m, false)
	}
	return ok
}

// end is the beginning of every release. It completes what the rank did under the lock,
// before another rank hears of the release, and reports whether all of it was done. If
// not, because the window has failed, the section may be half done: the release hands
// over nothing, so that no rank sees the half.
func (h *handle) end(m mode) (whole bool) {
	if h.mode != m {
		h.misuse("releases a lock that it does not hold so")
	}
	h.w.FlushAll()
	h.mode = free
	return !h.broken()
}

// disown and adopt are Oblivious, for the locks that have it.
func (h *handle) disown() {
	if h.mode != writing {
		h.misuse("disowns a lock that it does not hold")
	}
	h.mode = free
}

func (h *handle) adopt() {
	if h.mode != free {
		h.misuse("adopts a lock that it holds")
	}
	h.mode = writing
}

// Counts implements Counter.
func (h *handle) Counts() Counts {
	c := &h.counts
	return Counts{c.acquired.Load(), c.waited.Load(), c.upper.Load(), c.upperWaited.Load(), c.passed.Load(), c.broken.Load()}
}

//go:noinline
func (h *handle) misuse(what string) {
	panic(&MisuseError{Lock: h.o.Name, Rank: h.rank, What: what})
}

// line is the length of a cache line in bytes.
const line = 64

// padded is v with a cache line behind it, so that it shares none with the next thing in
// memory: a rank writes its handle in every turn.
func padded[T any](v T) *T {
	lines := &struct {
		v T
		_ [line]byte
	}{v: v}
	return &lines.v
}
