package epoch

import (
	"context"
	"fmt"

	"github.com/orwl/go-orwl/net/rma"
)

// Passive target synchronisation: foMPI's two-level scheme, §2.4. A global word
// at one rank keeps LockAll and exclusive locks apart, a local word at every rank
// keeps its readers and its writer apart:
//
//	global, at rank 0                        local, at every rank
//	63            32 31             0        63       62             0
//	┌───────────────┬────────────────┐       ┌────────┬───────────────┐
//	│ ranks that    │ ranks that     │       │ writer │ readers       │
//	│ lock some     │ hold or ask    │       │        │               │
//	│ exclusively   │ for LockAll    │       │        │               │
//	└───────────────┴────────────────┘       └────────┴───────────────┘
//
// A rank that locks several others exclusively counts once in the global word.
//
// Invariants. A rank holds LockAll only if it added itself when no rank was
// registered for exclusive locks; a rank registered for exclusive locks goes on
// only after it has seen no LockAll in the word. So of the two, who registers
// second waits. The writer bit is set only by a CAS from zero; readers add
// themselves first and hold the lock as soon as the bit is off, which it stays
// while they are counted.
//
// foMPI backs off and tries again, at both levels. Here everybody waits by Await
// for the bits that keep him out, and only LockAll withdraws its registration
// meanwhile, since of two who both wait for the other to withdraw one has to.
//
// Fairness: none. Readers of a rank pass waiting writers, any of several waiting
// writers may be next, and LockAll waits until no rank holds or wants an exclusive
// lock anywhere. Everybody gets a turn only if the others leave one. The locks of
// package locks are fair.
//
// Memory ordering: Unlock completes the operations on the target before it gives
// the lock back, and gives it back by a flushed atomic. Whoever finds the lock
// free after that sees them.
//
// Cost without contention: a shared lock 1 atomic at the target, an exclusive one
// 2, at rank 0 and at the target (1 if the rank holds others), LockAll 1 at rank 0;
// the unlocks as many accumulates, each flushed. With contention: one wait, and for
// an exclusive lock one more atomic, each time that somebody else was faster;
// LockAll 3 operations and one wait. 2 words.
type lockWords struct {
	global rma.Disp
	local  rma.Disp
}

const (
	lockMaster rma.Rank = 0 // keeps the global word

	lockAllOne  = 1
	lockAllMask = 1<<32 - 1
	writersOne  = 1 << 32
	writersMask = lockAllMask << 32

	readersOne = 1
	writerBit  = 1 << 63
)

// Mode is what Lock excludes.
type Mode uint8

const (
	// Shared excludes exclusive locks.
	Shared Mode = iota
	// Exclusive excludes every other lock.
	Exclusive
)

func (m Mode) String() string {
	switch m {
	case Shared:
		return "shared"
	case Exclusive:
		return "exclusive"
	}
	return fmt.Sprintf("Mode(%d)", uint8(m))
}

func newLockWords(f rma.Fabric) (lockWords, error) {
	global, err := f.Alloc(2)
	if err != nil {
		return lockWords{}, err
	}
	rma.Label(f, global, 1, "epoch.global")
	rma.Label(f, global+1, 1, "epoch.local")
	return lockWords{global: global, local: global + 1}, nil
}

// Lock opens an access epoch to target's memory, until Unlock. Other ranks may be
// locked at the same time; who locks several exclusively chooses one order for
// all, or ranks wait for each other for ever.
//
// If ctx ends while it waits, it gives up, holds nothing and has left no trace.
func (e *Sync) Lock(ctx context.Context, target rma.Rank, mode Mode) error {
	const operation = "Lock"
	if err := e.enterAccess(ctx, operation, len(e.held)); err != nil {
		return err
	}
	if err := e.checkRank(operation, target); err != nil {
		return err
	}
	if held, ok := e.held[target]; ok {
		return e.misuse(operation, ErrOpen, fmt.Sprintf("rank %d is locked already, %s: Unlock it first", target, held))
	}
	lock := e.lockShared
	if mode == Exclusive {
		lock = e.lockExclusive
	}
	if err := lock(ctx, target); err != nil {
		return e.failed(operation, err)
	}
	e.held[target] = mode
	return nil
}

// lockShared counts this rank among the readers and waits for the writer to
// leave, if there is one.
func (e *Sync) lockShared(ctx context.Context, target rma.Rank) error {
	if e.w.FetchOp(target, e.locks.local, rma.Sum, readersOne)&writerBit != 0 {
		if _, err := e.w.Await(ctx, target, e.locks.local, rma.Is(0).Masked(writerBit)); err != nil {
			e.subtract(target, e.locks.local, readersOne)
			return err
		}
	}
	return e.w.Err()
}

// lockExclusive keeps LockAll out, then everybody else at target.
func (e *Sync) lockExclusive(ctx context.Context, target rma.Rank) error {
	if err := e.register(ctx); err != nil {
		return err
	}
	for e.w.CAS(target, e.locks.local, 0, writerBit) != 0 {
		if _, err := e.w.Await(ctx, target, e.locks.local, rma.Is(0)); err != nil {
			e.deregister()
			return err
		}
	}
	e.exclusive++
	return e.w.Err()
}

// register adds this rank to those that lock exclusively, unless it is one of
// them, and waits until nobody holds LockAll.
func (e *Sync) register(ctx context.Context) error {
	if e.exclusive > 0 {
		return nil
	}
	if e.w.FetchOp(lockMaster, e.locks.global, rma.Sum, writersOne)&lockAllMask == 0 {
		return nil
	}
	_, err := e.w.Await(ctx, lockMaster, e.locks.global, rma.Is(0).Masked(lockAllMask))
	if err != nil {
		e.deregister()
	}
	return err
}

// deregister takes this rank out of those that lock exclusively, unless it holds
// such a lock.
func (e *Sync) deregister() {
	if e.exclusive == 0 {
		e.subtract(lockMaster, e.locks.global, writersOne)
	}
}

// subtract takes n from a word, for everybody to see.
func (e *Sync) subtract(target rma.Rank, disp rma.Disp, n uint64) {
	e.w.Accumulate(target, disp, rma.Sum, -n)
	e.w.Flush(target)
}

// Unlock completes this rank's operations on target and closes the epoch.
func (e *Sync) Unlock(target rma.Rank) error {
	const operation = "Unlock"
	mode, ok := e.held[target]
	if !ok {
		return e.misuse(operation, ErrNotOpen, fmt.Sprintf("rank %d is not locked: call Lock first", target))
	}
	delete(e.held, target)
	e.w.Flush(target)
	if mode == Shared {
		e.subtract(target, e.locks.local, readersOne)
		return e.result(operation)
	}
	e.subtract(target, e.locks.local, writerBit)
	e.exclusive--
	e.deregister()
	return e.result(operation)
}

// LockAll opens an access epoch to the memory of all ranks, shared, until
// UnlockAll. It costs the same however many ranks there are.
//
// If ctx ends while it waits, it gives up, holds nothing and has left no trace.
func (e *Sync) LockAll(ctx context.Context) error {
	const operation = "LockAll"
	if err := e.enterAccess(ctx, operation, 0); err != nil {
		return err
	}
	for e.w.FetchOp(lockMaster, e.locks.global, rma.Sum, lockAllOne)&writersMask != 0 {
		e.subtract(lockMaster, e.locks.global, lockAllOne)
		if _, err := e.w.Await(ctx, lockMaster, e.locks.global, rma.Is(0).Masked(writersMask)); err != nil {
			return e.failed(operation, err)
		}
	}
	e.heldAll = true
	return e.result(operation)
}

// UnlockAll completes all of this rank's operations and closes the epoch.
func (e *Sync) UnlockAll() error {
	const operation = "UnlockAll"
	if !e.heldAll {
		return e.misuse(operation, ErrNotOpen, "call LockAll first")
	}
	e.heldAll = false
	e.w.FlushAll()
	e.subtract(lockMaster, e.locks.global, lockAllOne)
	return e.result(operation)
}
