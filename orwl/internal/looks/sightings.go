package looks

import (
	"sync"
	"time"
)

// Sightings remember since when accesses have looked as they do. A task does not report
// that it waits. So each look stores what it has seen, and the next look can say how
// long that has lasted, at least. K names an access. The zero value remembers nothing.
type Sightings[K comparable] struct {
	mu    sync.Mutex
	seen  map[K]sighting
	moved time.Time // when a look last saw a change
}

// sighting is what an access looked like, and since when.
type sighting struct {
	stamp uint64
	since time.Time
}

// Begin forgets everything, and counts from now.
func (s *Sightings[K]) Begin(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen, s.moved = make(map[K]sighting), now
}

// See notes what an access looks like, and returns how long it has looked so.
func (s *Sightings[K]) See(access K, stamp uint64, now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last, ok := s.seen[access]; ok && last.stamp == stamp {
		return max(0, now.Sub(last.since))
	}
	if s.seen == nil {
		s.seen = make(map[K]sighting)
	}
	s.seen[access] = sighting{stamp, now}
	if now.After(s.moved) {
		s.moved = now
	}
	return 0
}

// Len is how many accesses are remembered.
func (s *Sightings[K]) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.seen)
}

// Still is how long nothing has moved.
func (s *Sightings[K]) Still(now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(0, now.Sub(s.moved))
}

// Moved is the time of the last change that a look saw.
func (s *Sightings[K]) Moved() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.moved
}
