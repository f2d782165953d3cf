package orwl

import (
	"sync"
	"time"
)

// sightings are since when accesses have looked as they do. Tasks tell nobody that they
// wait; who looks remembers what it has seen, so that the next one can say how long it
// has been so, at least.
type sightings struct {
	mu    sync.Mutex
	seen  map[*Access]sighting
	moved time.Time // when something was last seen to have
}

// sighting is what an access looked like, and since when.
type sighting struct {
	stamp uint64
	since time.Time
}

// begin forgets everything, and begins to count.
func (s *sightings) begin(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen, s.moved = make(map[*Access]sighting), now
}

// see notes what an access looks like, and says for how long it has.
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

// still is for how long nothing has moved.
func (s *sightings) still(now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(0, now.Sub(s.moved))
}

// when is when something was last seen to have moved.
func (s *sightings) when() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.moved
}
