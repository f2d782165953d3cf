package locks

import (
	"context"
	"fmt"
	"sync"

	"github.com/orwl/go-orwl/net/rma"
)

// RWLocker is a reader-writer lock for goroutines, to put where a sync.RWMutex
// was: a Locker for writers, and the same for readers. At most as many
// goroutines can read at a time as there are ranks, so that no rank is withheld
// while goroutines wait for one.
type RWLocker struct{ Locker }

// NewRWLocker is NewLocker for a lock whose kind is ReaderWriter.
func NewRWLocker(l *Lock, f rma.Fabric, ranks ...Rank) (*RWLocker, error) {
	if l.spec.Kind != ReaderWriter {
		return nil, fmt.Errorf("locks: %s has no readers: take a lock whose kind is ReaderWriter, or NewLocker", l.o.Name)
	}
	k := new(RWLocker)
	if err := k.init(l, f, ranks); err != nil {
		return nil, err
	}
	k.shared = true
	return k, nil
}

// RLock waits until the goroutine has the lock together with readers only. It
// panics as Lock does. As of a sync.RWMutex, a goroutine that has it must not
// ask for it again: a writer may have come in between.
func (k *RWLocker) RLock() {
	if err := k.RLockContext(context.Background()); err != nil {
		panic(err)
	}
}

// RLockContext is LockContext for readers.
func (k *RWLocker) RLockContext(ctx context.Context) error {
	p, err := k.claim(ctx)
	if err != nil {
		return err
	}
	if err := p.rw.AcquireRead(ctx); err != nil {
		k.vacate(p, placeTaken)
		return err
	}
	p.state.Add(placeReading - placeTaken)
	return nil
}

// TryRLock is TryLock for readers; ReadTryer is what the lock must be.
func (k *RWLocker) TryRLock() bool {
	p := k.tryClaim()
	if p == nil {
		return false
	}
	if try, ok := p.rw.(ReadTryer); !ok || !try.TryAcquireRead() {
		k.vacate(p, placeTaken)
		return false
	}
	p.state.Add(placeReading - placeTaken)
	return true
}

// RUnlock undoes one RLock, of whichever goroutine. If there is none to undo it
// panics with a *MisuseError.
//
// It lets go by any rank that reads, its own first. Which one it is makes no
// difference: who reads keeps writers out until as many readers have gone as had
// come, nobody asks which, and a goroutine without a rank has issued no
// operations that a certain window would have to complete.
func (k *RWLocker) RUnlock() {
	p := k.reader()
	if p == nil {
		k.misuse("is unlocked by a reader and was not locked by one")
	}
	p.rw.ReleaseRead()
	k.vacate(p, placeLeaving)
}

// reader takes a place that reads and makes it the caller's, or returns nil if
// there was a moment in which none read. Readers come and go meanwhile, and may
// do so behind the back of who looks; only if the states, which only grow, are
// the same the next time, they were so all at once.
func (k *RWLocker) reader() *place {
	for before, again := uint64(0), false; ; again = true {
		sum := uint64(0)
		i := k.start()
		for range k.places {
			p := &k.places[i]
			v := p.state.Load()
			if v%placeStates == placeReading && p.state.CompareAndSwap(v, v+placeLeaving-placeReading) {
				return p
			}
			sum += v
			if i++; i == len(k.places) {
				i = 0
			}
		}
		if again && sum == before {
			return nil
		}
		before = sum
	}
}

// RLocker is a sync.Locker whose Lock and Unlock are RLock and RUnlock.
func (k *RWLocker) RLocker() sync.Locker { return (*readLocker)(k) }

type readLocker RWLocker

func (r *readLocker) Lock()   { (*RWLocker)(r).RLock() }
func (r *readLocker) Unlock() { (*RWLocker)(r).RUnlock() }
