package metrics

import (
	"errors"
	"fmt"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/lockers"
	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/orwl/inspect"
)

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
