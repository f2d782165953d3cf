package resource

import (
	"context"
	"fmt"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/lockers"
	"github.com/orwl/go-orwl/net/rma"
)

// Guard is the reader-writer lock between ordered and relaxed access, one side for
// each.
type Guard struct {
	// Ordered is the side of the FIFO. One goroutine at a time uses it. One goroutine
	// may acquire it and another release it.
	Ordered locks.RWMutex
	// Relaxed is the side of relaxed access.
	Relaxed Relaxed
	// Reach, if not nil, makes relaxed access work from every node. Ordered is then nil on
	// the nodes that are not the home.
	Reach *Reach
}

// Relaxed is a reader-writer lock for goroutines: a *lockers.RWLocker.
type Relaxed interface {
	// TryLock and TryRLock report whether the goroutine has the lock now, for writing
	// or beside other readers. They never wait.
	TryLock() bool
	TryRLock() bool
	// LockContext and RLockContext wait for it, and fail as a locks.RWMutex does.
	LockContext(ctx context.Context) error
	RLockContext(ctx context.Context) error
	// Unlock releases a lock for writing, RUnlock one for reading.
	Unlock()
	RUnlock()
}

// NewGuard makes a guard of l, a lock of f whose kind is ReaderWriter. The FIFO uses
// rank 0. Goroutines share the other ranks for relaxed access.
func NewGuard(l *locks.Lock, f rma.Fabric) (Guard, error) {
	ranks := f.Topology().Ranks()
	if ranks < 2 {
		return Guard{}, fmt.Errorf("resource: a guard on a fabric of %d rank: want one for the FIFO and at least one for relaxed access", ranks)
	}
	relaxed := make([]locks.Rank, 0, ranks-1)
	for p := 1; p < ranks; p++ {
		relaxed = append(relaxed, locks.Rank(p))
	}
	return NewGuardOn(l, f, new(locks.Rank), relaxed, nil)
}

// NewGuardOn makes a node's guard of a lock of f whose kind is ReaderWriter. The FIFO uses
// the rank ordered, which is this node's if the node is the home, and goroutines share
// the ranks relaxed of this node. reach may be nil.
func NewGuardOn(l *locks.Lock, f rma.Fabric, ordered *locks.Rank, relaxed []locks.Rank, reach *Reach) (Guard, error) {
	g := Guard{Reach: reach}
	k, err := lockers.NewRW(l, f, relaxed...)
	if err != nil {
		return Guard{}, fmt.Errorf("resource: guard: %w", err)
	}
	g.Relaxed = k
	if ordered != nil {
		w, err := f.Window(*ordered)
		if err != nil {
			return Guard{}, fmt.Errorf("resource: guard: %w", err)
		}
		g.Ordered = l.At(w).(locks.RWMutex)
	}
	return g, nil
}
