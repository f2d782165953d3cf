package metrics

import (
	"math/rand/v2"
	"time"
)

// A wait without times is seen by glances. A goroutine looks now and then which places
// wait. It assumes that each of them has waited since the last glance. The average is
// right for long and short waits, and the waiting tasks pay nothing.
const (
	glancePeriod = 5 * time.Millisecond
	glanceJitter = 2 * time.Millisecond // keeps the glances out of step with the program
	// Each manyPlaces places make the glances rarer by one glancePeriod.
	manyPlaces = 4096
)

// glances repeats glance until stop is closed.
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

// glance looks once at all places.
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

// sleeps reports whether the place waits now. A wait ends when the task has acquired, as
// in a timed wait: a granted step may miss other accesses, or a worker.
func (w *watch) sleeps() bool {
	if w.stood.Load() == 0 {
		return false
	}
	return w.place.Inspect(w.resource).Requested
}

// look reports whether the place waits now, and the total time of its waits so far: the
// timed ones, the one that is being timed, and the seen ones.
func (w *watch) look(now int64) (waits bool, nanoseconds uint64) {
	nanoseconds = w.slept.Load() + w.seen // first: a wait that ends now counts next time
	if since := w.since.Load(); since != 0 {
		nanoseconds += uint64(max(0, now-int64(since)))
	}
	return w.sleeps(), nanoseconds
}

// begin starts the glances with the first task, and end stops them after the last. m.mu
// is held.
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
