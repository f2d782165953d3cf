package metrics

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/lockers"
	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/orwl/inspect"
	"github.com/orwl/go-orwl/resource"
)

// relaxedCounter counts the relaxed accesses of all resources with one kind of guard.
type relaxedCounter struct {
	m     *Metrics
	guard string
	every uint64 // one of so many accesses is timed
	modes [2]struct {
		times
		acquired, waited, cancelled, failed atomic.Uint64
	}

	mu     sync.Mutex
	begins map[relaxedAccess]int64 // when a timed access began to wait, or acquired
}

// relaxedAccess names a relaxed access.
type relaxedAccess struct {
	of     *queue.Resource
	number uint64
}

// relaxedSample is how many relaxed accesses a timed one stands for, at most.
const relaxedSample = 16

// Relaxed counts and times the relaxed accesses to a resource with this kind of guard. Call it before the first one. A
// runtime's resources have it already.
func (m *Metrics) Relaxed(r *resource.Resource, guard string) {
	(*queue.Resource)(r).Observe(m.relaxedOf(guard), queue.AllRelaxed)
}

// relaxedOf is the observer of relaxed accesses to resources with this kind of guard.
func (m *Metrics) relaxedOf(guard string) *relaxedCounter {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, d := range m.relaxed {
		if d.guard == guard {
			return d
		}
	}
	d := &relaxedCounter{m: m, guard: guard, every: uint64(min(m.sample, relaxedSample)), begins: make(map[relaxedAccess]int64)}
	in := seconds()
	for i := range d.modes {
		d.modes[i].times = times{in.new(), in.new()}
	}
	m.relaxed = append(m.relaxed, d)
	return d
}

// Observe implements queue.Observer. It counts all accesses, and times some.
func (d *relaxedCounter) Observe(e queue.Event) {
	of := &d.modes[e.Mode]
	switch {
	case e.Kind == queue.RelaxedWaiting:
		of.waited.Add(1)
	case e.Kind == queue.RelaxedAcquired:
		of.acquired.Add(1)
	case e.Kind == queue.RelaxedFailed && ended(e.Err):
		of.cancelled.Add(1)
	case e.Kind == queue.RelaxedFailed:
		of.failed.Add(1)
	}
	if d.timed(e.Relaxed) {
		d.time(e, of.times)
	}
}

// timed reports whether the access with a number is timed: one of every, spread evenly, so
// that a program that reads and writes by turns has both timed.
func (d *relaxedCounter) timed(number uint64) bool {
	const golden = 0x9e3779b97f4a7c15 // 1<<64 divided by the golden ratio
	return number*golden <= math.MaxUint64/d.every
}

// time times an access from its events.
func (d *relaxedCounter) time(e queue.Event, to times) {
	name, now := relaxedAccess{e.Resource, e.Relaxed}, d.m.now()
	d.mu.Lock()
	since := d.begins[name] // 0: there was no event
	switch e.Kind {
	case queue.RelaxedWaiting, queue.RelaxedAcquired:
		d.begins[name] = now
	default:
		delete(d.begins, name)
	}
	d.mu.Unlock()
	switch {
	case since == 0:
	case e.Kind == queue.RelaxedAcquired:
		to.wait.observe(now-since, d.every)
	case e.Kind == queue.RelaxedReleased:
		to.hold.observe(now-since, d.every)
	}
}

func (m *Metrics) collectRelaxed(s sink) {
	var of [len(modes)]sums
	for _, d := range m.relaxed {
		for _, mode := range modes {
			c := &d.modes[mode]
			waited, got := c.waited.Load(), c.acquired.Load()
			t := &of[mode]
			t.acquired += got
			t.waited += waited
			t.cancelled += c.cancelled.Load()
			t.failed += c.failed.Load()
			s.histogram("orwl_acquire_wait_seconds", c.wait, got-min(got, waited), mode.String(), relaxed, d.guard)
			s.histogram("orwl_hold_seconds", c.hold, 0, mode.String(), relaxed, d.guard)
		}
	}
	for _, mode := range modes {
		t, name := of[mode], mode.String()
		s.count("orwl_accesses_total", t.acquired, name, relaxed, acquired)
		s.count("orwl_accesses_total", t.cancelled, name, relaxed, cancelled)
		s.count("orwl_accesses_total", t.failed, name, relaxed, failed)
		s.count("orwl_waits_total", t.waited, name, relaxed)
	}
}

// ErrName is a lock that has the name of another, or none.
var ErrName = errors.New("metrics: give each lock a name of its own")

// lock is a lock that a scrape looks at.
type lock struct {
	name, algorithm string
	counts          func() []locks.Counts
	stats           func() lockers.Stats // nil if it is not for goroutines
}

// Lock watches a lock, under a name that no other lock has. counts returns the counts of
// its ranks, as [locks.Lock.Counts] does.
func (m *Metrics) Lock(name, algorithm string, counts func() []locks.Counts) error {
	return m.watchLock(lock{name: name, algorithm: algorithm, counts: counts})
}

// Locker is Lock for a lock for goroutines: a *lockers.Locker or a *lockers.RWLocker.
func (m *Metrics) Locker(name string, k interface {
	Algorithm() string
	Counts() []locks.Counts
	Stats() lockers.Stats
}) error {
	return m.watchLock(lock{name, k.Algorithm(), k.Counts, k.Stats})
}

func (m *Metrics) watchLock(l lock) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, other := range m.locks {
		if other.name == l.name {
			return fmt.Errorf("%w: %q is there twice", ErrName, l.name)
		}
	}
	if l.name == "" {
		return fmt.Errorf("%w: it has none", ErrName)
	}
	m.locks = append(m.locks, l)
	return nil
}

// collectLocks also tells how many resources and locks are broken.
func (m *Metrics) collectLocks(s sink, broken int) {
	for _, l := range m.locks {
		ranks := l.counts()
		var all locks.Counts
		var each []uint64
		for _, c := range ranks {
			all, each = all.Add(c), append(each, c.Acquired)
		}
		s.count("orwl_lock_acquisitions_total", all.Acquired, l.name, l.algorithm)
		s.count("orwl_lock_waits_total", all.Waited, l.name, l.algorithm)
		s.count("orwl_lock_passed_total", all.Passed, l.name, l.algorithm)
		s.gauge("orwl_lock_local_handover_ratio", all.Locality(), l.name, l.algorithm)
		s.gauge("orwl_lock_contention_ratio", all.Contention(), l.name, l.algorithm, "local")
		s.gauge("orwl_lock_contention_ratio", all.UpperContention(), l.name, l.algorithm, "global")
		s.gauge("orwl_lock_fairness_cv", inspect.Unfairness(each), l.name, l.algorithm)
		if l.stats != nil {
			stats := l.stats()
			s.count("orwl_lock_kept_total", stats.Kept, l.name, l.algorithm)
			s.count("orwl_lock_rank_waits_total", stats.RankWaits, l.name, l.algorithm)
		}
		if all.Broken > 0 {
			broken++
		}
	}
	s.gauge("orwl_broken_locks", float64(broken))
}

// Sessions adds the sessions of a server: a *session.Server. A process has one at most.
func (m *Metrics) Sessions(server interface{ Counts() node.SessionCounts }) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sessions = server.Counts
}

// collectSessions is called with m unlocked.
func (m *Metrics) collectSessions(s sink) {
	m.mu.Lock()
	counts := m.sessions
	m.mu.Unlock()
	if counts == nil {
		return
	}
	c := counts()
	s.gauge("orwl_sessions", float64(c.Sessions))
	s.gauge("orwl_session_locks", float64(c.Held), "held")
	s.gauge("orwl_session_locks", float64(c.Waiting), "waiting")
	s.count("orwl_sessions_opened_total", c.Opened)
	s.count("orwl_sessions_expired_total", c.Expired)
	s.count("orwl_session_locks_granted_total", c.Granted)
	s.count("orwl_session_locks_lost_total", c.Lost)
	s.count("orwl_session_forced_releases_total", c.Forced)
}
