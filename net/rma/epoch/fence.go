package epoch

import (
	"context"
	"math/bits"

	"github.com/orwl/go-orwl/net/rma"
)

// The fence is a dissemination barrier (Hensgen, Finkel, Manber 1988), as in
// foMPI, §2.4: local and remote completion first, then O(log P) rounds. In round
// r, rank p signals rank p+2^r and waits for rank p-2^r, modulo P:
//
//	round 0   0 → 1 → 2 → 3 → 4 → 0
//	round 1   0 → 2 → 4 → 1 → 3 → 0      after round r, p has heard, directly or
//	round 2   0 → 4 → 3 → 2 → 1 → 0      not, from p-1, p-2, ... p-(2^(r+1)-1)
//
// Invariant: word r of rank p holds the number of the last barrier for which
// rank p-2^r, its only writer, has reached round r. Numbers only grow, so a rank
// that is a barrier ahead does no harm and nothing has to be reset.
//
// Memory ordering: a rank completes its own operations before its first signal,
// and flushes each signal; waiting for a signal makes all that visible which its
// sender had completed or had itself been told of.
//
// Cost: ⌈log₂ P⌉ puts, each flushed, and as many waits for words of the own
// segment; ⌈log₂ P⌉ words.
type barrier struct {
	ranks   int
	rounds  int
	signals rma.Disp // [rounds]
}

// newBarrier allocates a barrier's words. One rank alone needs none.
func newBarrier(f rma.Fabric, name string) (barrier, error) {
	ranks := f.Topology().Ranks()
	b := barrier{ranks: ranks, rounds: bits.Len(uint(ranks - 1))}
	if b.rounds == 0 {
		return b, nil
	}
	var err error
	if b.signals, err = f.Alloc(b.rounds); err != nil {
		return b, err
	}
	rma.Label(f, b.signals, b.rounds, name)
	return b, nil
}

// passage is one rank's way through the barriers, one after the other.
type passage struct {
	barrier
	passed uint64 // barriers behind this rank
	round  int    // of the barrier under way
	told   bool   // the signal of this round is out
}

// pass goes through one barrier. If the wait ends early, the next call goes on
// with the same barrier, at the wait; nothing of what was signalled can be taken
// back, and nothing is said twice.
//
// carry, if not nil, puts what this rank has to tell to a rank before that is
// signalled; what it is told in this way is there when the signal is. Whoever is
// told may read it, and write it anew, as soon as it has the signal.
func (s *passage) pass(ctx context.Context, w rma.Window, carry func(round int, to rma.Rank)) error {
	me, number := w.Rank(), s.passed+1
	for ; s.round < s.rounds; s.round++ {
		word := s.signals + rma.Disp(s.round)
		if !s.told {
			to := (me + 1<<s.round) % rma.Rank(s.ranks)
			if carry != nil {
				carry(s.round, to)
				w.Flush(to)
			}
			w.Put(to, word, number)
			w.Flush(to)
			s.told = true
		}
		if _, err := w.Await(ctx, me, word, rma.AtLeast(number)); err != nil {
			return err
		}
		s.told = false
	}
	s.passed, s.round = number, 0
	return w.Err()
}

// Fence ends one epoch for all ranks and begins the next: it completes this
// rank's operations and waits until every rank has called Fence as often. Then
// everybody sees everybody's.
//
// A Fence cannot be withdrawn. If ctx ends while it waits, the fence remains
// open: call Fence again to wait on, with no operation in between; nothing else
// is allowed before. The other ranks may or may not have passed it.
func (e *Sync) Fence(ctx context.Context) error {
	const operation = "Fence"
	if err := e.enterFence(ctx, operation); err != nil {
		return err
	}
	e.w.FlushAll()
	if err := e.meet(ctx, operation, nil); err != nil {
		return e.failed(operation, err)
	}
	return nil
}

// meet passes the fence that operation is. Until it has, no other operation may
// begin.
func (e *Sync) meet(ctx context.Context, operation string, carry func(round int, to rma.Rank)) error {
	e.meeting = operation
	err := e.fence.pass(ctx, e.w, carry)
	if err == nil {
		e.meeting = ""
	}
	return err
}
