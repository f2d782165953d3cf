package lockers

import (
	"context"
	"fmt"
	"sync"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
)

// RWLocker is a reader-writer lock for goroutines that takes the place of a sync.RWMutex: a
// Locker for writers, and the same for readers.
//
// Goroutines of one processor that read at the same time use one rank together: see seat.
type RWLocker struct{ Locker }

// NewRW is New for a lock whose kind is [locks.ReaderWriter].
func NewRW(l *locks.Lock, f rma.Fabric, ranks ...locks.Rank) (*RWLocker, error) {
	if l.Spec().Kind != locks.ReaderWriter {
		return nil, fmt.Errorf("lockers: %s has no readers: take a lock whose kind is ReaderWriter, or call New", l.Name())
	}
	k := new(RWLocker)
	var b *bias
	if len(ranks) == 0 {
		b = new(bias)
	}
	if err := k.init(l, f, ranks, b); err != nil {
		return nil, err
	}
	return k, nil
}

// RLock waits until the goroutine has the lock, alone or beside other readers. It panics as
// Lock does. A goroutine that has it must not ask for it again, as with a sync.RWMutex: a
// writer may have come in between.
func (k *RWLocker) RLock() {
	if k.here()[0].joinAtOnce() {
		return
	}
	if err := k.RLockContext(context.Background()); err != nil {
		panic(err)
	}
}

// RLockContext is LockContext for readers.
func (k *RWLocker) RLockContext(ctx context.Context) error {
	near := k.here()
	s := &near[0]
	if !s.join() {
		v, joins, err := uint64(0), false, error(nil)
		if s, v, joins, err = k.claimRead(ctx, near); err != nil {
			return err
		}
		if !joins {
			grant, err := s.acquireRead(ctx, v, k.seats)
			if err != nil {
				s.leaveKept()
				return err
			}
			s.admit(grant)
			return nil
		}
	}
	return s.joinedIntact(ctx)
}

// claimRead returns a seat that the goroutine holds, and what its state was, or whose
// readers it has joined.
func (k *RWLocker) claimRead(ctx context.Context, near []seat) (s *seat, v uint64, joins bool, err error) {
	s, v, joins = claimReadOf(near)
	if s == nil && full(near[0].state.Load()) {
		s, v, joins = claimReadOf(k.seats)
	}
	if s == nil {
		s = &near[0]
		v, joins, err = s.wait(ctx, true)
	}
	return s, v, joins, err
}

// claimReadOf is claimRead among some seats, without waiting: nil if there is none.
func claimReadOf(seats []seat) (s *seat, v uint64, joins bool) {
	for i := range seats {
		s := &seats[i]
		if s.join() {
			return s, 0, true
		}
		if v, ok := s.take(); ok {
			return s, v, false
		}
	}
	return nil, 0, false
}

// TryRLock is TryLock for readers. It fails always if the lock is no ReadTryer.
func (k *RWLocker) TryRLock() bool {
	s, v, joins := claimReadOf(k.here())
	switch {
	case s == nil:
		return false
	case joins:
		return s.joinedIntact(context.Background()) == nil
	}
	grant, ok := s.tryAcquireRead(v, k.seats)
	if !ok {
		s.leaveKept()
		return false
	}
	s.admit(grant)
	return true
}

// RUnlock undoes one RLock of any goroutine. If there is none to undo, it panics with a
// *locks.MisuseError.
//
// It takes a reader out of any group, the processor's first. Which one makes
// no difference: readers keep writers out until as many readers have gone as had come.
func (k *RWLocker) RUnlock() {
	near := k.here()
	if !near[0].partAtOnce() && !partOf(near) && !k.partAnywhere() {
		k.misuse("is unlocked by a reader and was not locked by one")
	}
}

// partOf takes a reader out of one of the seats.
func partOf(seats []seat) bool {
	for i := range seats {
		if seats[i].part() {
			return true
		}
	}
	return false
}

// partAnywhere takes a reader out of any seat, or reports that there was a moment in which
// no seat had one. Readers come and go behind its back. If no seat got its first reader
// between two looks at all seats, those that had none in between had none at the same time.
func (k *RWLocker) partAnywhere() bool {
	for before, again := uint64(0), false; ; again = true {
		groups := uint64(0)
		for i := range k.seats {
			groups += k.seats[i].state.Load() / oneGroup
		}
		if again && groups == before {
			return false
		}
		if partOf(k.seats) {
			return true
		}
		before = groups
	}
}

// RLocker is a sync.Locker whose Lock and Unlock are RLock and RUnlock.
func (k *RWLocker) RLocker() sync.Locker { return (*readLocker)(k) }

type readLocker RWLocker

func (r *readLocker) Lock()   { (*RWLocker)(r).RLock() }
func (r *readLocker) Unlock() { (*RWLocker)(r).RUnlock() }
