package epoch

import (
	"context"
	"fmt"

	"github.com/orwl/go-orwl/net/rma"
)

// Passive target synchronisation is foMPI's two-level scheme, §2.4. A global word
// at rank 0 keeps LockAll and exclusive locks apart. A local word at every rank
// keeps the readers and the writer of that rank apart:
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
// Invariants. A rank holds LockAll only if no rank was registered for exclusive
// locks when it added itself. A rank that is registered for exclusive locks
// continues only after it has seen no LockAll in the word. So of two ranks that
// exclude each other, the second to register waits. Only a CAS from zero sets the
// writer bit. A reader first adds itself and holds the lock as soon as the bit is
// off. Once off, the bit stays off while the word counts a reader.
//
// foMPI backs off and tries again, at both levels. Here every rank uses Await to
// wait for the bits that exclude it. Only LockAll withdraws its registration before
// it waits. If no side withdrew, each would wait for the other.
//
// Fairness: none. Readers of a rank pass waiting writers. Any of several waiting
// writers may be next. LockAll waits until no rank holds or wants an exclusive lock
// anywhere, so a rank can starve. The locks of package locks are fair.
//
// Memory ordering: Unlock completes the operations on the target before it releases
// the lock. It releases by a flushed atomic. A rank that finds the lock free after
// that sees those operations.
//
// Cost without contention: a shared lock costs 1 atomic, at the target. An exclusive
// lock costs 2, at rank 0 and at the target, or 1 if the rank holds another
// exclusive lock. LockAll costs 1, at rank 0. The unlocks cost as many accumulates,
// each flushed.
//
// Cost with contention: each time another rank is faster, a lock costs one wait, an
// exclusive lock one more atomic, and LockAll 3 operations and one wait.
//
// Memory: 2 words.
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

// Mode says which other locks a Lock excludes.
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

// Lock opens an access epoch to target's memory, until Unlock. A rank may lock
// several ranks at the same time. If ranks lock several others exclusively, all of
// them need the same order of locking. Otherwise they deadlock.
//
// If ctx ends while Lock waits, Lock gives up. The rank holds nothing and leaves no
// trace.
func (e *Sync) Lock(ctx context.Context, target rma.Rank, mode Mode) error {
	const operation = "Lock"
	if err := e.enterAccess(ctx, operation, len(e.held)); err != nil {
		return err
	}
	if err := e.checkRank(operation, target); err != nil {
		return err
	}
	if held, ok := e.held[target]; ok {
		return e.misuse(operation, ErrOpen, fmt.Sprintf("rank %d is already locked (%s): call Unlock first", target, held))
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

// lockShared adds this rank to the readers. If there is a writer, it waits for the
// writer to leave.
func (e *Sync) lockShared(ctx context.Context, target rma.Rank) error {
	if e.w.FetchOp(target, e.locks.local, rma.Sum, readersOne)&writerBit != 0 {
		if _, err := e.w.Await(ctx, target, e.locks.local, rma.Is(0).Masked(writerBit)); err != nil {
			e.subtract(target, e.locks.local, readersOne)
			return err
		}
	}
	return e.w.Err()
}

// lockExclusive excludes LockAll first, then every other lock at target.
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

// register adds this rank to the ranks that lock exclusively and waits until no
// rank holds LockAll. If it is already one of them, there is nothing to do.
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

// deregister removes this rank from the ranks that lock exclusively, unless it
// holds an exclusive lock.
func (e *Sync) deregister() {
	if e.exclusive == 0 {
		e.subtract(lockMaster, e.locks.global, writersOne)
	}
}

// subtract subtracts n from a word and flushes.
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

// LockAll opens a shared access epoch to the memory of all ranks, until UnlockAll.
// Its cost does not depend on the number of ranks.
//
// If ctx ends while LockAll waits, LockAll gives up. The rank holds nothing and
// leaves no trace.
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
