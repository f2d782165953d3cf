package orwl

import (
	"sync"
	"time"
)

// sightings remember since when accesses have looked as they do. A task does not report
// that it waits. So each look stores what it has seen, and the next look can say how
// long that has lasted, at least.
type sightings struct {
	mu    sync.Mutex
	seen  map[*Access]sighting
	moved time.Time // when a look last saw a change
}

// sighting is what an access looked like, and since when.
type sighting struct {
	stamp uint64
	since time.Time
}

// begin forgets everything, and counts from now.
func (s *sightings) begin(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen, s.moved = make(map[*Access]sighting), now
}

// see notes what an access looks like, and returns how long it has looked so.
func (s *sightings) see(a *Access, stamp uint64, now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last, ok := s.seen[a]; ok && last.stamp == stamp {
		return max(0, now.Sub(last.since))
	}
	if s.seen == nil {
		s.seen = make(map[*Access]sighting)
	}
	s.seen[a] = sighting{stamp, now}
	if now.After(s.moved) {
		s.moved = now
	}
	return 0
}

// still is how long nothing has moved.
func (s *sightings) still(now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(0, now.Sub(s.moved))
}

// when is the time of the last change that a look saw.
func (s *sightings) when() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.moved
}
