package lockers

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/orwl/go-orwl/internal/processor"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/rma"
)

// Locker is a lock for goroutines: a sync.Locker that takes the place of a sync.Mutex. Any
// goroutine may unlock it, as with a sync.Mutex. A Locker must not be copied.
type Locker struct {
	name  string
	of    *locks.Lock
	seats []seat
	near  [][]seat // the seats of a processor, by its number

	_      [line]byte // all goroutines read the above, every holder writes the below
	holder *seat      // guarded by the lock itself
}

var _ sync.Locker = (*Locker)(nil)

// New makes a lock of f a lock for goroutines: of this process alone, or of several
// processes that share f, each with ranks of its own. It uses the ranks given, or all
// ranks of f if none are given. Nothing else may use their windows.
func New(l *locks.Lock, f rma.Fabric, ranks ...locks.Rank) (*Locker, error) {
	k := new(Locker)
	if err := k.init(l, f, ranks, nil); err != nil {
		return nil, err
	}
	return k, nil
}

func (k *Locker) init(l *locks.Lock, f rma.Fabric, ranks []locks.Rank, b *bias) error {
	if len(ranks) == 0 {
		for p := range locks.Rank(f.Topology().Ranks()) {
			ranks = append(ranks, p)
		}
	}
	k.name, k.of, k.seats = l.Name(), l, make([]seat, len(ranks))
	for i, p := range ranks {
		w, err := f.Window(p)
		if err != nil {
			return fmt.Errorf("lockers: %s: %w", k.name, err)
		}
		k.seats[i].init(l, w, b)
	}
	k.place(func(i int) (cpu int, ok bool) { return f.Topology().CPU(ranks[i]) })
	return nil
}

// place gives each processor its seats. cpu is the CPU of a seat.
func (k *Locker) place(cpu func(i int) (number int, ok bool)) {
	n := len(k.seats)
	if _, ok := cpu(0); !ok {
		k.near = make([][]seat, runtime.GOMAXPROCS(0))
		for i := range k.near {
			first := i * n / len(k.near)
			k.near[i] = k.seats[first:max(first+1, (i+1)*n/len(k.near))]
		}
		return
	}
	for first, end := 0, 0; first < n; first = end {
		number, _ := cpu(first)
		for end = first; end < n; end++ {
			if other, _ := cpu(end); other != number {
				break
			}
		}
		if number >= len(k.near) {
			k.near = append(k.near, make([][]seat, number+1-len(k.near))...)
		}
		k.near[number] = k.seats[first:end]
	}
	// A processor without a rank shares another one's.
	with := slices.DeleteFunc(slices.Clone(k.near), func(seats []seat) bool { return seats == nil })
	for i := range k.near {
		if k.near[i] == nil {
			k.near[i] = with[i%len(with)]
		}
	}
}

// here are the seats of the processor that the goroutine runs on.
func (k *Locker) here() []seat {
	n := processor.Number()
	if n >= len(k.near) {
		n %= len(k.near)
	}
	return k.near[n]
}

// Counts returns the counts of each rank: see [locks.Lock.Counts]. They include the
// acquisitions by a rank that had the lock already.
func (k *Locker) Counts() []locks.Counts {
	all := make([]locks.Counts, len(k.seats))
	for i := range k.seats {
		s := &k.seats[i]
		all[i] = s.mutex.(locks.Counter).Counts()
		all[i].Acquired += s.joins.Load()
	}
	return all
}

// Stats tell how goroutines acquired a lock.
type Stats struct {
	// Counts is the sum over all ranks. Passed counts the hand-overs within an element of
	// the machine, if the lock knows elements.
	locks.Counts
	// Kept is the share of Acquired in which the rank had the lock already: readers beside
	// others, and goroutines whose processor had kept the lock. Readers are counted here
	// when the rank lets go of the lock.
	Kept uint64
	// RankWaits is how often a goroutine waited for a rank of its processor.
	RankWaits uint64
}

// Stats returns what has been counted so far. Any goroutine may call it at any time.
func (k *Locker) Stats() (s Stats) {
	for _, c := range k.Counts() {
		s.Counts = s.Counts.Add(c)
	}
	for i := range k.seats {
		s.Kept += k.seats[i].joins.Load()
		s.RankWaits += k.seats[i].waits.Load()
	}
	return s
}

// Algorithm is the name of the lock in the table.
func (k *Locker) Algorithm() string { return k.of.Spec().Name }

// Lock waits until the goroutine has the lock. It panics with a *locks.BrokenError if the lock
// is broken, because a sync.Locker has no other way to say so.
func (k *Locker) Lock() {
	if err := k.LockContext(context.Background()); err != nil {
		panic(err)
	}
}

// LockContext is Lock that returns the error: a *locks.BrokenError if the lock is broken, and
// ctx's if ctx ends while the goroutine waits for a rank. If ctx ends later, Spec.Aborts
// says whether the goroutine gives up: a lock that never aborts is waited for until it is
// there. A goroutine that gets an error does not have the lock.
func (k *Locker) LockContext(ctx context.Context) error {
	near := k.here()
	s := &near[0]
	v, ok := s.take()
	if !ok {
		var err error
		if s, v, err = claim(ctx, near); err != nil {
			return err
		}
	}
	var err error
	if s.bias == nil {
		err = s.mutex.Acquire(ctx)
	} else {
		err = s.acquire(ctx, v, k.seats)
	}
	if err != nil {
		s.leaveKept()
		return err
	}
	k.holder = s
	return nil
}

// claim returns a seat that the goroutine holds, of those near, and what its state was.
func claim(ctx context.Context, near []seat) (s *seat, v uint64, err error) {
	for i := range near {
		if v, ok := near[i].take(); ok {
			return &near[i], v, nil
		}
	}
	v, _, err = near[0].wait(ctx, false)
	return &near[0], v, err
}

// TryLock reports whether the goroutine has the lock now. It never waits, and a failed one
// orders nothing. It fails also if all ranks of the processor are in use, and always if the
// lock is no Tryer.
func (k *Locker) TryLock() bool {
	near := k.here()
	for i := range near {
		s := &near[i]
		v, ok := s.take()
		if !ok {
			continue
		}
		if !s.tryAcquire(v, k.seats) {
			s.leaveKept()
			return false
		}
		k.holder = s
		return true
	}
	return false
}

// Unlock lets go. Unlocking a lock that is not locked panics with a *locks.MisuseError.
func (k *Locker) Unlock() {
	s := k.holder
	if s == nil {
		k.misuse("is unlocked and was not locked")
	}
	k.holder = nil
	if s.bias == nil {
		s.mutex.Release()
		s.leave()
	} else {
		s.release()
	}
}

//go:noinline
func (k *Locker) misuse(what string) {
	panic(&locks.MisuseError{Lock: k.name, Rank: -1, What: what})
}
