package epoch

import (
	"context"
	"math/bits"

	"github.com/orwl/go-orwl/net/rma"
)

// The fence is a dissemination barrier (Hensgen, Finkel, Manber 1988), as in
// foMPI, §2.4. Each rank first completes its operations. Then come O(log P)
// rounds. In round r, rank p signals rank p+2^r and waits for rank p-2^r, modulo P:
//
//	round 0   0 → 1 → 2 → 3 → 4 → 0
//	round 1   0 → 2 → 4 → 1 → 3 → 0      after round r, p has heard, directly or
//	round 2   0 → 4 → 3 → 2 → 1 → 0      not, from p-1, p-2, ... p-(2^(r+1)-1)
//
// Invariant: word r of rank p has one writer, rank p-2^r. It holds the number of
// the last barrier in which this writer has reached round r. Numbers only grow.
// So a rank may be one barrier ahead, and no word is ever reset.
//
// Memory ordering: a rank completes its own operations before its first signal and
// flushes each signal. A rank that has received a signal sees every operation that
// the sender had completed, and every operation that the sender saw by signals.
//
// Cost: ⌈log₂ P⌉ flushed puts, ⌈log₂ P⌉ waits for words of the own segment,
// ⌈log₂ P⌉ words.
type barrier struct {
	ranks   int
	rounds  int
	signals rma.Disp // [rounds]
}

// newBarrier allocates a barrier's words. A single rank needs none.
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
	passed uint64 // number of barriers that this rank has passed
	round  int    // of the barrier under way
	told   bool   // the rank has sent its signal of this round
}

// pass goes through one barrier. A signal cannot be withdrawn. If a wait is
// interrupted, the next call resumes the same barrier at that wait and sends no
// signal twice.
//
// carry, if not nil, puts data for rank to, before pass signals that rank. The data
// is complete before the signal arrives. The receiver may read and overwrite it as
// soon as it has the signal.
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

// Fence ends one epoch for all ranks and begins the next. It completes this rank's
// operations and waits until every rank has called Fence as often as this one.
// Then every rank sees the operations of all ranks.
//
// A Fence cannot be withdrawn. If ctx ends while it waits, the fence stays under
// way: call Fence again to resume it. No other operation is allowed before that.
// The other ranks may have passed the fence or not.
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

// meet passes the fence of operation. Until it has passed, no other operation may
// begin.
func (e *Sync) meet(ctx context.Context, operation string, carry func(round int, to rma.Rank)) error {
	e.meeting = operation
	err := e.fence.pass(ctx, e.w, carry)
	if err == nil {
		e.meeting = ""
	}
	return err
}
