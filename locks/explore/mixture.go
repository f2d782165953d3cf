package explore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/lockstest"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/sim"
	"github.com/orwl/go-orwl/net/topology"
)

// mixture is ranks that use a set of locks in all ways that a program may, which the
// contest of lockstest leaves out: they try, they read and write in turn, they give up at
// any moment, they disown a lock that another rank then adopts. After every step what
// all ranks know together is compared with what the locks promise.
type mixture struct {
	lock   Lock
	tree   *topology.Tree
	way    Way
	faults sim.Faults
}

// How much a rank does.
const (
	mixedRounds = 4
	mixedLocks  = 2
)

// mixedLock is what is known of a lock.
type mixedLock struct {
	writers, readers int
	written          uint64
	disowned         bool
}

// mixing is one run.
type mixing struct {
	mixture
	plain bool // the windows have no capability
	set   []lockstest.At
	known [mixedLocks]mixedLock
	data  rma.Disp
	home  rma.Rank // of the data
	quit  []context.CancelFunc
	seed  uint64
}

// options are thresholds so small that they matter, and a variant.
func (x mixture) options(rng *rand.Rand) locks.Options {
	o := x.lock.options(lockstest.Thresholds{TL: 1 + rng.IntN(3), TR: 1 + rng.IntN(3), TW: 1 + rng.IntN(4)}, x.tree)
	o.Home = rma.Rank(rng.IntN(x.tree.Ranks()))
	o.Operations = x.way == ByOperations
	if x.lock.has("TDC") {
		o.TDC = 1 + rng.IntN(x.tree.Ranks())
	}
	variants := x.lock.variants()
	variants[rng.IntN(len(variants))].Set(&o)
	return o
}

func (x mixture) system(seed uint64) sim.System {
	return sim.System{
		Topology: x.tree, Words: 1 << 10, Shared: x.way == Direct, Faults: x.faults, MaxSteps: 1 << 20,
		Command: x.lock.Command,
		Setup: func(f *sim.Fabric) (sim.Program, error) {
			set, err := x.lock.set(f, mixedLocks, x.options(rand.New(rand.NewPCG(seed, 11))))
			if err != nil {
				return sim.Program{}, err
			}
			data, err := f.Alloc(mixedLocks)
			if err != nil {
				return sim.Program{}, err
			}
			ranks := x.tree.Ranks()
			m := &mixing{mixture: x, plain: x.way == ByOperations && seed%4 == 0, set: set, data: data, home: rma.Rank(ranks - 1), quit: make([]context.CancelFunc, ranks), seed: seed}
			return sim.Program{Rank: m.rank}, nil
		},
	}
}

// rank is what each rank does.
func (m *mixing) rank(ctx context.Context, w rma.Window) error {
	rng := rand.New(rand.NewPCG(m.seed, uint64(20+w.Rank())))
	seen := w
	if m.plain {
		seen = struct{ rma.Window }{w}
	}
	for range mixedRounds {
		k := rng.IntN(mixedLocks)
		l := m.set[k](seen)
		read := m.lock.Spec.Kind == locks.ReaderWriter && rng.IntN(2) == 0
		if had, err := m.acquire(ctx, w, rng, l, read); err != nil {
			return err
		} else if had {
			if err := m.inside(w, rng, k, read); err != nil {
				return err
			}
			m.leave(w, rng, k, l, read)
		}
		m.someoneQuits(rng)
		w.Get(m.home, m.data) // others may go on
		m.adopt(seen)
	}
	return nil
}

// acquire tries, or acquires with a context that may end, or with one that does not.
func (m *mixing) acquire(ctx context.Context, w rma.Window, rng *rand.Rand, l locks.Mutex, read bool) (had bool, err error) {
	how := rng.IntN(3)
	if how == 0 {
		if read {
			if try, ok := l.(locks.ReadTryer); ok {
				return try.TryAcquireRead(), nil
			}
		} else if try, ok := l.(locks.Tryer); ok {
			return try.TryAcquire(), nil
		}
	}
	attempt := ctx
	if how == 1 {
		attempt, m.quit[w.Rank()] = context.WithCancel(ctx)
		defer func() { m.quit[w.Rank()] = nil }()
	}
	switch {
	case read:
		err = l.(locks.RWMutex).AcquireRead(attempt)
	case m.lock.Spec.Kind == locks.Priority && rng.IntN(2) == 0:
		err = l.(locks.PriorityMutex).AcquireLow(attempt)
	default:
		err = l.Acquire(attempt)
	}
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, locks.ErrBroken):
		if w.Err() == nil || !errors.Is(err, w.Err()) {
			return false, fmt.Errorf("rank %d acquires and gets %v, but the window's failure is %v", w.Rank(), err, w.Err())
		}
		return false, err
	case attempt.Err() == nil || !errors.Is(err, context.Canceled):
		return false, fmt.Errorf("rank %d acquires and gets %v", w.Rank(), err)
	}
	return false, nil
}

// inside is asked at the moment when the rank has the lock.
func (m *mixing) inside(w rma.Window, rng *rand.Rand, k int, read bool) error {
	known := &m.known[k]
	if known.writers > 0 || !read && known.readers > 0 {
		return fmt.Errorf("exclusion broken: rank %d enters lock %d (it reads: %t) beside %d writers and %d readers", w.Rank(), k, read, known.writers, known.readers)
	}
	if read {
		known.readers++
	} else {
		known.writers++
	}
	m.someoneQuits(rng)
	at := m.data + rma.Disp(k)
	switch seen := w.Get(m.home, at); {
	case w.Err() != nil:
		return w.Err()
	case seen != known.written:
		return fmt.Errorf("stale data: rank %d holds lock %d and sees write %d, but write %d was made under it", w.Rank(), k, seen, known.written)
	}
	if !read {
		known.written++
		w.Put(m.home, at, known.written)
	}
	return nil
}

// leave releases the lock, or leaves that to another rank.
func (m *mixing) leave(w rma.Window, rng *rand.Rand, k int, l locks.Mutex, read bool) {
	known := &m.known[k]
	if read {
		known.readers--
		l.(locks.RWMutex).ReleaseRead()
		return
	}
	if o, ok := l.(locks.Oblivious); ok && rng.IntN(2) == 0 {
		w.FlushAll() // another rank's release does not complete this
		o.Disown()
		known.disowned = w.Err() == nil
		return
	}
	known.writers--
	l.Release()
}

// adopt releases what is disowned.
func (m *mixing) adopt(w rma.Window) {
	for k := range m.known {
		if known := &m.known[k]; known.disowned && w.Err() == nil {
			known.disowned = false
			known.writers--
			l := m.set[k](w)
			l.(locks.Oblivious).Adopt()
			l.Release()
		}
	}
}

// someoneQuits ends the context of any rank that acquires.
func (m *mixing) someoneQuits(rng *rand.Rand) {
	if quit := m.quit[rng.IntN(len(m.quit))]; quit != nil {
		quit()
	}
}
