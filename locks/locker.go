package locks

import (
	"context"
	"fmt"
	"math/bits"
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
// last time. If all are taken it waits, in FIFO order among those who do, until it
// is invited:
//
//	goroutines ─▶ no free rank ─▶ queue of the Locker ─▶ invited ─┐
//	          └─▶ a free rank  ─▶ the lock, by that rank ◀────────┘
//
// Who waits for a rank and then for the lock sleeps twice for one turn. So as long as
// more goroutines wait than there are free ranks, those stay free while anybody has
// one: the lock's own queue runs dry, and then one goroutine at a time is invited, to
// a lock that is free. With as many ranks as goroutines compete at a time, the lock
// itself orders them all.
//
// Where a cohort lock takes a rank to be, the goroutine need not be: Go moves
// goroutines between processors and does not say where they are. Its levels
// still bound how often the lock changes between groups of ranks.
type Locker struct {
	name   string
	lock   *Lock
	places []place
	shared bool // some of them read beside each other, and none is withheld

	// For those that find no free place. This is not an algorithm that the simulator
	// plays: goroutines without a rank have no window to await a word of, so they wait as
	// goroutines do, by a channel, which has an order.
	waiting atomic.Int32 // those that no invitation is on its way to
	invited chan *place  // has room for all places

	_      [64]byte // everybody reads the above, every holder writes the below
	holder *place   // guarded by the lock itself
}

var _ sync.Locker = (*Locker)(nil)

// place is a rank that goroutines use in turn. Its state modulo 4 says how:
//
//	        ┌─────────── Unlock ───────────┐
//	        │                              ▼
//	free ─▶ taken ─RLock─▶ held by a reader ─RUnlock─▶ leaving ─▶ free
//
// It may be handed on at once, too, and is taken again then, past free.
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
	k.places, k.invited = make([]place, len(ranks)), make(chan *place, len(ranks))
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
// failed one orders nothing. It fails also if no rank is free or others wait for
// one, and always if the lock is no Tryer.
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
	k.waiting.Add(1)
	k.invite() // whoever had a place may have gone before it could know
	if ctx.Done() == nil {
		return <-k.invited, nil
	}
	select {
	case p := <-k.invited:
		return p, nil
	case <-ctx.Done():
	}
	if !k.oneLess() {
		k.vacate(<-k.invited, placeTaken) // it comes too late to go without one
	}
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

// vacate gives back a place in a state, or hands it to whoever has waited longest.
func (k *Locker) vacate(p *place, state uint64) {
	if k.waiting.Load() == 0 || !k.hand(p, state) {
		p.state.Add(placeStates - state)
	}
	if k.waiting.Load() != 0 {
		k.invite()
	}
}

// hand is vacate where goroutines wait, and reports whether one has got the place.
func (k *Locker) hand(p *place, state uint64) bool {
	if k.crowded(p) || !k.oneLess() {
		return false
	}
	p.state.Add(placeStates + placeTaken - state)
	k.invited <- p
	return true
}

// invite gives free places to those who wait, unless it is crowded. Nobody is forgotten:
// who waits has said so, and who had a place has freed it, before either looks here; so
// one of them sees the other.
func (k *Locker) invite() {
	for k.waiting.Load() != 0 && !k.crowded(nil) {
		p := k.take()
		if p == nil {
			return
		}
		if k.oneLess() {
			k.invited <- p
		} else {
			p.state.Add(placeStates - placeTaken)
		}
	}
}

// crowded reports whether more goroutines wait than there are free places, and another
// place than that one is in use: whoever has it will look again.
func (k *Locker) crowded(but *place) bool {
	if k.shared {
		return false
	}
	used := 0
	for i := range k.places {
		if p := &k.places[i]; p != but && p.state.Load()%placeStates != placeFree {
			used++
		}
	}
	return used > 0 && int(k.waiting.Load()) > len(k.places)-used
}

// oneLess takes one out of those who wait, who is to be invited or goes away.
func (k *Locker) oneLess() bool {
	for {
		n := k.waiting.Load()
		if n == 0 || k.waiting.CompareAndSwap(n, n-1) {
			return n != 0
		}
	}
}

//go:noinline
func (k *Locker) misuse(what string) {
	panic(&MisuseError{Lock: k.name, Rank: -1, What: what})
}
