package metrics

import (
	"errors"
	"fmt"
	"math"

	"github.com/orwl/go-orwl/locks"
)

// ErrName is a lock that has the name of another, or none.
var ErrName = errors.New("metrics: give each lock a name of its own")

// lock is one that is looked at.
type lock struct {
	name, algorithm string
	counts          func() []locks.Counts
}

// Lock has a lock looked at, under a name that no other has: counts are those of its
// ranks, as [locks.Lock.Counts] and [locks.Locker.Counts] tell them at any time.
func (m *Metrics) Lock(name, algorithm string, counts func() []locks.Counts) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range m.locks {
		if l.name == name {
			return fmt.Errorf("%w: %q is there twice", ErrName, name)
		}
	}
	if name == "" {
		return fmt.Errorf("%w: it has none", ErrName)
	}
	m.locks = append(m.locks, lock{name, algorithm, counts})
	return nil
}

// collectLocks also tells how much is broken: so many resources, and locks.
func (m *Metrics) collectLocks(s sink, broken int) {
	for _, l := range m.locks {
		ranks := l.counts()
		var all locks.Counts
		for _, c := range ranks {
			all = all.Add(c)
		}
		s.count("orwl_lock_acquisitions_total", all.Acquired, l.name, l.algorithm)
		s.count("orwl_lock_waits_total", all.Waited, l.name, l.algorithm)
		s.count("orwl_lock_passed_total", all.Passed, l.name, l.algorithm)
		s.gauge("orwl_lock_local_handover_ratio", all.Locality(), l.name, l.algorithm)
		s.gauge("orwl_lock_contention_ratio", all.Contention(), l.name, l.algorithm, "local")
		s.gauge("orwl_lock_contention_ratio", all.UpperContention(), l.name, l.algorithm, "global")
		s.gauge("orwl_lock_fairness_cv", variation(ranks), l.name, l.algorithm)
		if all.Broken > 0 {
			broken++
		}
	}
	s.gauge("orwl_broken_locks", float64(broken))
}

// variation is the coefficient of variation of what those got who got anything.
func variation(ranks []locks.Counts) float64 {
	n, sum, squares := 0.0, 0.0, 0.0
	for _, c := range ranks {
		if c.Acquired > 0 {
			v := float64(c.Acquired)
			n, sum, squares = n+1, sum+v, squares+v*v
		}
	}
	if n == 0 {
		return 0
	}
	mean := sum / n
	return math.Sqrt(max(0, squares/n-mean*mean)) / mean
}
