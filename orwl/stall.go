package orwl

import (
	"os"
	"os/signal"
	"sync"
	"time"
)

// watcher looks at a run now and then, to notice when nothing moves any more. It reads
// only words that the tasks write anyway, so it does not slow them.
type watcher struct {
	rt   *Runtime
	told time.Time // the time of the last change before the last report
}

// looks is how often the watcher looks in one Options.Stall.
const looks = 4

// watch reports stalls, and on SIGQUIT, until the caller calls stop. It goes on after
// the end of the run's context: a task that does not heed that end needs the report
// most.
func (rt *Runtime) watch() (stop func()) {
	var all sync.WaitGroup
	ended := make(chan struct{})
	rt.seen.begin(time.Now())
	quit := make(chan os.Signal, 1)
	if len(quitSignals) > 0 {
		signal.Notify(quit, quitSignals...)
	}
	all.Go(func() { rt.watchUntil(ended, quit) })
	return func() {
		signal.Stop(quit)
		close(ended)
		all.Wait()
	}
}

func (rt *Runtime) watchUntil(ended <-chan struct{}, quit chan os.Signal) {
	w := watcher{rt: rt}
	var tick <-chan time.Time
	if rt.o.Stall > 0 {
		ticker := time.NewTicker(rt.o.Stall / looks)
		defer ticker.Stop()
		tick = ticker.C
	}
	for {
		select {
		case <-ended:
			return
		case <-tick:
			w.look()
		case <-quit:
			// Go handles the next signal again: it prints every goroutine and ends.
			signal.Stop(quit)
			os.Stderr.WriteString(rt.Inspect().String())
		}
	}
}

// look reports a stall, and then not again until something has moved.
func (w *watcher) look() {
	rt := w.rt
	v := rt.look()
	moved := rt.seen.when()
	if !w.told.Equal(moved) {
		rt.still.Store(false)
	}
	if v.still >= rt.o.Stall && !w.told.Equal(moved) {
		w.told = moved
		rt.stalled(v)
	}
}

// stalled reports a stall.
func (rt *Runtime) stalled(v *view) {
	rt.stalls.Add(1)
	rt.still.Store(true)
	s := v.state()
	if rt.o.OnStall != nil {
		rt.o.OnStall(s)
		return
	}
	rt.o.Log.Warn("orwl: nothing has moved", "for", s.Still.Round(time.Millisecond), "tasks", len(s.running()), "report", "\n"+s.String())
}

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
