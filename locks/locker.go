package locks

import (
	"context"
	"fmt"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/orwl/go-orwl/net/rma"
)

// Locker is a lock for goroutines, which have no ranks: a sync.Locker, to put
// where a sync.Mutex was. As of that one, it may be unlocked by another
// goroutine than the one that locked it, and must not be copied.
//
// A goroutine that locks takes a rank of the fabric that no other goroutine
// uses, and keeps it until it unlocks. It begins to look where it found one the
// last time. If all are taken it waits, in FIFO order among those who do; a
// fabric should have as many ranks as goroutines compete at a time.
//
// Where a cohort lock takes a rank to be, the goroutine need not be: Go moves
// goroutines between processors and does not say where they are. Its levels
// still bound how often the lock changes between groups of ranks.
type Locker struct {
	name   string
	lock   *Lock
	places []place
	// waiting is as long as queue, and looked at without mu.
	waiting atomic.Int32

	_      [64]byte // everybody reads the above, every holder writes the below
	holder *place   // guarded by the lock itself

	// For those that find no free place. This is not an algorithm that the
	// simulator plays: goroutines without a rank have no window to await a word
	// of, so they wait as goroutines do.
	mu    sync.Mutex
	queue []chan *place
}

var _ sync.Locker = (*Locker)(nil)

// place is a rank that goroutines use in turn. Its state modulo 4 says how:
//
//	        ┌─────────── Unlock ───────────┐
//	        │                              ▼
//	free ─▶ taken ─RLock─▶ held by a reader ─RUnlock─▶ leaving ─▶ free
//
// A state is only ever added to. So who finds the states of all places as they
// were knows that nothing happened in between.
type place struct {
	state atomic.Uint64
	mutex Mutex
	rw    RWMutex // nil if the lock has no readers
	_     [128 - 8 - 2*16]byte
}

// The states of a place, modulo placeStates.
const (
	placeFree = iota
	placeTaken
	placeReading
	placeLeaving
	placeStates
)

// NewLocker makes a lock of f one for goroutines: of this process alone, or of
// several that share f, each with ranks of its own. It uses the ranks given, all
// ranks of f if none is, and nobody else may use their windows, for this lock or
// for another.
func NewLocker(l *Lock, f rma.Fabric, ranks ...Rank) (*Locker, error) {
	k := new(Locker)
	if err := k.init(l, f, ranks); err != nil {
		return nil, err
	}
	return k, nil
}

func (k *Locker) init(l *Lock, f rma.Fabric, ranks []Rank) error {
	if len(ranks) == 0 {
		for p := range Rank(f.Topology().Ranks()) {
			ranks = append(ranks, p)
		}
	}
	k.name, k.lock = l.o.Name, l
	k.places = make([]place, len(ranks))
	for i, p := range ranks {
		w, err := f.Window(p)
		if err != nil {
			return fmt.Errorf("locks: %s for goroutines: %w", k.name, err)
		}
		k.places[i].mutex = l.At(w)
		k.places[i].rw, _ = k.places[i].mutex.(RWMutex)
	}
	return nil
}

// Counts are those of the ranks that goroutines have taken: see [Lock.Counts].
func (k *Locker) Counts() []Counts { return k.lock.Counts() }

// Algorithm is the name of the lock in the table.
func (k *Locker) Algorithm() string { return k.lock.spec.Name }

// Lock waits until the goroutine has the lock. It panics with a *BrokenError if
// the lock is broken: a sync.Locker cannot say so otherwise.
func (k *Locker) Lock() {
	if err := k.LockContext(context.Background()); err != nil {
		panic(err)
	}
}

// LockContext is Lock that returns the error: a *BrokenError if the lock is broken,
// and ctx's, without the lock, if ctx ends while the goroutine waits for a rank. If
// it ends when it has a rank and waits for the lock, Spec.Aborts says what comes of
// that; a lock that never aborts is waited for until it is there.
func (k *Locker) LockContext(ctx context.Context) error {
	p, err := k.claim(ctx)
	if err != nil {
		return err
	}
	if err := p.mutex.Acquire(ctx); err != nil {
		k.vacate(p, placeTaken)
		return err
	}
	k.holder = p
	return nil
}

// TryLock reports whether the goroutine has the lock now. It never waits, and a
// failed one orders nothing. It fails also if no rank is free, and always if
// the lock is no Tryer.
func (k *Locker) TryLock() bool {
	p := k.tryClaim()
	if p == nil {
		return false
	}
	if try, ok := p.mutex.(Tryer); !ok || !try.TryAcquire() {
		k.vacate(p, placeTaken)
		return false
	}
	k.holder = p
	return true
}

// Unlock lets go. Unlocking a lock that is not locked panics with a
// *MisuseError.
func (k *Locker) Unlock() {
	p := k.holder
	if p == nil {
		k.misuse("is unlocked and was not locked")
	}
	k.holder = nil
	p.mutex.Release()
	k.vacate(p, placeTaken)
}

// claim returns a place that is the goroutine's from now on, or ctx's error.
func (k *Locker) claim(ctx context.Context) (*place, error) {
	if p := k.tryClaim(); p != nil {
		return p, nil
	}
	mine := make(chan *place, 1)
	k.mu.Lock()
	k.queue = append(k.queue, mine)
	k.waiting.Add(1)
	k.serve() // a place may have become free before waiting said so
	k.mu.Unlock()
	select {
	case p := <-mine:
		return p, nil
	case <-ctx.Done():
	}
	k.mu.Lock()
	if i := slices.Index(k.queue, mine); i >= 0 {
		k.queue = slices.Delete(k.queue, i, i+1)
		k.waiting.Add(-1)
		k.mu.Unlock()
		return nil, ctx.Err()
	}
	k.mu.Unlock()
	k.vacate(<-mine, placeTaken) // it has just been served
	return nil, ctx.Err()
}

// tryClaim does not overtake those who wait.
func (k *Locker) tryClaim() *place {
	if k.waiting.Load() != 0 {
		return nil
	}
	return k.take()
}

// take takes a free place, if it finds one.
func (k *Locker) take() *place {
	i := k.start()
	for range k.places {
		p := &k.places[i]
		if v := p.state.Load(); v%placeStates == placeFree && p.state.CompareAndSwap(v, v+placeTaken) {
			return p
		}
		if i++; i == len(k.places) {
			i = 0
		}
	}
	return nil
}

// start is where the goroutine begins to look for a place: the same each time,
// and seldom that of another one, because it depends on where its stack is. Stacks
// lie at multiples of the smallest stack's size; multiples of the golden ratio
// spread what is evenly spaced.
func (k *Locker) start() int {
	const smallest, golden = 2048, 0x9e3779b97f4a7c15
	var here byte
	stack := uint64(uintptr(unsafe.Pointer(&here))) / smallest
	i, _ := bits.Mul64(stack*golden, uint64(len(k.places)))
	return int(i)
}

// vacate gives back a place in a state. Whoever waits has said so before looking
// at the state a last time, and the state changes before anybody looks who waits.
func (k *Locker) vacate(p *place, state uint64) {
	p.state.Add(placeStates - state)
	if k.waiting.Load() != 0 {
		k.mu.Lock()
		k.serve()
		k.mu.Unlock()
	}
}

// serve gives free places to those who have waited longest. mu is held.
func (k *Locker) serve() {
	for len(k.queue) > 0 {
		p := k.take()
		if p == nil {
			return
		}
		k.queue[0] <- p
		k.queue[0] = nil
		k.queue = k.queue[1:]
		k.waiting.Add(-1)
	}
}

//go:noinline
func (k *Locker) misuse(what string) {
	panic(&MisuseError{Lock: k.name, Rank: -1, What: what})
}
