package shm

import (
	"fmt"

	"github.com/orwl/go-orwl/net/rma"
)

// A process claims a rank in two steps: it takes the rank's lock, then writes its
// claim. It leaves the rank in two steps: it writes the claim's fate, then drops the
// lock. So a claim that is alive and whose lock is free belongs to a process that
// ended without leaving.

// claim makes rank p one of this process's.
func (f *Fabric) claim(p rma.Rank) error {
	c := &f.claims[p]
	free, err := f.locks.take(p)
	if err != nil {
		return fmt.Errorf("shm: claiming rank %d: %w", p, err)
	}
	if free && c.owner.CompareAndSwap(0, f.me) {
		return nil
	}
	refusal := &rma.RankError{Rank: p, Ranks: len(f.claims)}
	switch owner := c.owner.Load(); {
	case !free && owner == 0:
		refusal.Why = "another process is claiming it"
	case !free:
		refusal.Why = fmt.Sprintf("process %d has it", pid(owner))
	case c.fate.Load() == departed:
		refusal.Why = fmt.Sprintf("process %d had it and has left", pid(owner))
	default:
		refusal.Why = fmt.Sprintf("process %d had it and is gone", pid(owner))
	}
	if free {
		if err := f.locks.drop(p); err != nil {
			return fmt.Errorf("shm: giving up rank %d: %w", p, err)
		}
	}
	return refusal
}

// depart leaves the ranks of this process. The locks go when their file is
// closed.
func (f *Fabric) depart() {
	for p := range f.claims {
		if f.claims[p].owner.Load() == f.me {
			f.claims[p].fate.CompareAndSwap(alive, departed)
		}
	}
}

// pid is the process id of an owner, in its own pid namespace.
func pid(owner uint64) uint32 { return uint32(owner) }
