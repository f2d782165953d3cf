package printed

import (
	"context"
	"math"

	"github.com/orwl/go-orwl/internal/tally"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
)

// algorithm is an exclusive lock as its listing has it.
type algorithm interface {
	// enter returns when the rank holds the lock, and reports whether it found a predecessor.
	// It may believe anything if the window fails.
	enter() (waited bool, err error)
	// tryEnter takes the lock if it is free.
	tryEnter() bool
	// leave gives the lock to a successor, or to no rank.
	leave()
}

// side is one rank's side of a lock: an algorithm and the rules of [locks.Mutex]. A window that
// has failed breaks the lock for good.
type side struct {
	algorithm
	w      rma.Window
	beside rma.Considerate // nil: the window does not know when to stay away
	name   string          // of the lock
	held   bool

	acquiredCount, waitedCount, upperCount, passedCount, brokenCount tally.Count

	// Acquired at the last call of rma.Considerate.Returns, and at the next.
	returnedAt, returnsAt uint64
}

// newSide is a side without its algorithm.
func newSide(name string, w rma.Window) *side {
	s := &side{w: w, name: name, returnsAt: math.MaxUint64}
	s.beside, _ = w.(rma.Considerate)
	return s
}

// Acquire implements locks.Mutex.
func (s *side) Acquire(ctx context.Context) error {
	if s.acquiredCount.Own() >= s.returnsAt {
		s.returns()
	}
	if err := s.begin(ctx); err != nil {
		return err
	}
	waited, err := s.enter()
	if err != nil || s.w.Err() != nil {
		return s.broken()
	}
	s.acquired(waited)
	return nil
}

// TryAcquire implements locks.Tryer.
func (s *side) TryAcquire() bool {
	if s.begin(context.Background()) != nil || !s.tryEnter() || s.w.Err() != nil {
		return false
	}
	s.acquired(false)
	return true
}

// Release implements locks.Mutex. After a failure it hands over nothing, since the section may be
// half done.
func (s *side) Release() {
	if !s.held {
		s.misuse("releases a lock that it does not hold")
	}
	s.w.FlushAll()
	s.held = false
	if s.w.Err() == nil {
		s.leave()
	}
}

// Counts implements locks.Counter.
func (s *side) Counts() locks.Counts {
	return locks.Counts{Acquired: s.acquiredCount.Load(), Waited: s.waitedCount.Load(), Upper: s.upperCount.Load(), Passed: s.passedCount.Load(), Broken: s.brokenCount.Load()}
}

func (s *side) begin(ctx context.Context) error {
	if s.held {
		s.misuse("acquires a lock that it holds: release it first")
	}
	if s.w.Err() != nil {
		return s.broken()
	}
	return ctx.Err()
}

func (s *side) acquired(waited bool) {
	s.held = true
	s.acquiredCount.Inc()
	if waited {
		s.waitedCount.Inc()
	}
}

func (s *side) broken() error {
	s.brokenCount.Inc()
	return &locks.BrokenError{Lock: s.name, Rank: s.w.Rank(), Cause: s.w.Err()}
}

func (s *side) misuse(what string) {
	panic(&locks.MisuseError{Lock: s.name, Rank: s.w.Rank(), What: what})
}

// handedOver reports to the window that the rank has handed the lock to another one, and returns
// asks it whether to stay away before the rank comes again.
func (s *side) handedOver() {
	if s.beside != nil {
		s.returnsAt = 0
		s.beside.HandedOver()
	}
}

func (s *side) returns() {
	now := s.acquiredCount.Own()
	turns := now - s.returnedAt
	s.returnedAt, s.returnsAt = now, math.MaxUint64
	if again := s.beside.Returns(int(turns)); again > 0 {
		s.returnsAt = now + uint64(again)
	}
}

// put is a Put that has arrived when it returns.
func (s *side) put(p rma.Rank, disp rma.Disp, v uint64) {
	s.w.Put(p, disp, v)
	s.w.Flush(p)
}

// replace is put by an Accumulate.
func (s *side) replace(p rma.Rank, disp rma.Disp, v uint64) {
	s.w.Accumulate(p, disp, rma.Replace, v)
	s.w.Flush(p)
}

// await waits for as long as it takes.
func (s *side) await(p rma.Rank, disp rma.Disp, until rma.Until) (uint64, error) {
	return s.w.Await(context.Background(), p, disp, until)
}
