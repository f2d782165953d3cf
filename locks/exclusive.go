package locks

import (
	"context"
	"sync/atomic"
)

// core is the algorithm of an exclusive lock, without the rules that all locks
// have in common.
//
// A grant is a number that a holder leaves to the next one. Zero is what nobody
// left; a lock on its own leaves granted.
type core interface {
	// enter returns with the lock, and what the predecessor left: zero if the
	// lock was free.
	enter(ctx context.Context) (grant uint64, err error)
	// tryEnter takes the lock if it is free.
	tryEnter() bool
	// leave gives the lock to a successor, with a grant, or to nobody.
	leave(grant uint64)
}

// inner is a core that a cohort can have inside. Its waiters never give up.
type inner interface {
	core
	// alone reports whether nobody is known to wait ("alone?").
	alone() bool
}

// granted is the least grant.
const granted = 1

// mutex makes a Mutex of a core. The types below are the capabilities that a core
// may have besides.
type mutex struct {
	seat
	core core
}

// Acquire implements Mutex. Who goes alone does here what lone.enter does, whose answer
// the compiler would write down and read again: a tenth of the time. Memory has answered,
// and whether the window has failed meanwhile does not matter.
func (m *mutex) Acquire(ctx context.Context) error {
	was := m.turn
	switch {
	case was.mode() != ready, was >= m.asks, !m.endless(&ctx), m.failed.Load():
		return m.acquire(ctx, true)
	}
	l := &m.lone
	found := l.absent
	if l.by == bySwap {
		found = atomic.SwapUint64(l.tail.at, l.present)
	} else if !atomic.CompareAndSwapUint64(l.tail.at, l.absent, l.present) {
		return m.acquire(ctx, false)
	}
	if found != l.absent || atomic.LoadUint64(l.sure.at) != l.shows {
		l.found, l.lined = found, true
		return m.acquire(ctx, false)
	}
	m.setTurn(was + oneTurn + alone - ready)
	return nil
}

// acquire is Acquire for who does not come alone, or has not tried to.
func (m *mutex) acquire(ctx context.Context, try bool) error {
	if try {
		if m.due() || !m.ready(ctx) {
			if err := m.arrive(ctx); err != nil {
				return err
			}
		}
		if m.lone.allowed && m.lone.farEnter() {
			if err := m.decided(); err != nil {
				return err
			}
			m.acquired(alone)
			return nil
		}
	}
	grant, err := m.core.enter(ctx)
	if err != nil {
		return err
	}
	if grant != 0 {
		count(&m.counts.Waited)
	}
	m.acquired(writing)
	return nil
}

// TryAcquire implements Tryer.
func (m *mutex) TryAcquire() bool {
	if m.begin(context.Background()) != nil || !m.core.tryEnter() {
		return false
	}
	m.acquired(writing)
	return true
}

// Release implements Mutex.
func (m *mutex) Release() {
	l, was := &m.lone, m.turn
	switch {
	case was.mode() == alone && m.direct:
		if m.setTurn(was - alone + ready); atomic.CompareAndSwapUint64(l.tail.at, l.present, l.absent) {
			return
		}
	case was.mode() == alone:
		if m.end(alone); l.tail.cas(l.present, l.absent) {
			return
		}
	default:
		m.end(writing)
	}
	m.core.leave(granted)
}

// cohortMutex is a mutex that tells whether somebody waits.
type cohortMutex struct {
	mutex
	in inner
}

// cohortable is the lock for a rank, given its core.
func cohortable(build func(*seat) inner) func(seat) Mutex {
	return func(s seat) Mutex {
		m := apart(cohortMutex{mutex: mutex{seat: s}})
		m.in = build(&m.seat)
		m.core = m.in
		return m
	}
}

// Alone implements Cohort.
func (m *cohortMutex) Alone() bool { return m.in.alone() }

// obliviousMutex is a mutex that another rank may release.
type obliviousMutex struct{ mutex }

// oblivious is the lock for a rank, given its core.
func oblivious(build func(*seat) core) func(seat) Mutex {
	return func(s seat) Mutex {
		m := apart(obliviousMutex{mutex{seat: s}})
		m.core = build(&m.seat)
		return m
	}
}

// Disown implements Oblivious.
func (m *obliviousMutex) Disown() { m.disown() }

// Adopt implements Oblivious.
func (m *obliviousMutex) Adopt() { m.adopt() }

// obliviousCohortMutex is both.
type obliviousCohortMutex struct{ cohortMutex }

// obliviousCohort is the lock for a rank, given its core.
func obliviousCohort(build func(*seat) inner) func(seat) Mutex {
	return func(s seat) Mutex {
		m := apart(obliviousCohortMutex{cohortMutex{mutex: mutex{seat: s}}})
		m.in = build(&m.seat)
		m.core = m.in
		return m
	}
}

// Disown implements Oblivious.
func (m *obliviousCohortMutex) Disown() { m.disown() }

// Adopt implements Oblivious.
func (m *obliviousCohortMutex) Adopt() { m.adopt() }
