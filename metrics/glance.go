package metrics

import (
	"math/rand/v2"
	"time"
)

// Waits that are not timed are seen: now and then somebody looks who waits, and each
// who does is taken to have waited since the last look. That is true on average,
// long waits or short, and costs those who wait nothing.
const (
	glancePeriod = 5 * time.Millisecond
	glanceJitter = 2 * time.Millisecond // so as not to fall into step with anybody
	// manyPlaces is from how many places on the looks become fewer.
	manyPlaces = 4096
)

// glances looks until stop is closed.
func (m *Metrics) glances(stop <-chan struct{}) {
	for {
		slower := 1 + time.Duration(m.places.Load()/manyPlaces)
		timer := time.NewTimer(slower * (glancePeriod + rand.N(glanceJitter)))
		select {
		case <-stop:
			timer.Stop()
			return
		case <-timer.C:
			m.glance()
		}
	}
}

// glance looks once.
func (m *Metrics) glance() {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	for _, w := range m.watches {
		if w.sleeps() && w.since.Load() == 0 {
			w.seen += uint64(now - m.glanced)
		}
	}
	m.glanced = now
}

// sleeps reports whether the place waits now. Who is granted and only has to wake up
// does not.
func (w *watch) sleeps() bool {
	if w.stood.Load() == 0 {
		return false
	}
	l := w.place.Look(w.resource)
	return l.Requested && !l.Granted
}

// look reports whether the place waits now, and for how long it has in all, so far:
// what was timed, what is being timed, and what was seen.
func (w *watch) look(now int64) (waits bool, nanoseconds uint64) {
	nanoseconds = w.slept.Load() + w.seen // first: what ends now comes next time
	if since := w.since.Load(); since != 0 {
		nanoseconds += uint64(max(0, now-int64(since)))
	}
	return w.sleeps(), nanoseconds
}

// begin and end have somebody look while there are tasks. m.mu is held.
func (m *Metrics) begin() {
	if m.running++; m.running == 1 {
		m.glanced = m.now()
		stop := make(chan struct{})
		m.stop = stop
		go m.glances(stop)
	}
}

func (m *Metrics) end() {
	if m.running--; m.running == 0 {
		close(m.stop)
	}
}
