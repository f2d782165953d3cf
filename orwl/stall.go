package orwl

import (
	"os"
	"os/signal"
	"sync"
	"time"
)

// watcher looks at a run now and then, to tell when nothing moves any more. What
// it looks at is written by the tasks anyway, so that they do not notice.
type watcher struct {
	rt    *Runtime
	seen  map[*Access]sighting
	moved time.Time // when something last had
	told  bool      // of the present stall
}

// sighting is what an access looked like, and since when.
type sighting struct {
	stamp uint64
	since time.Time
}

// looks is how often the watcher looks while it waits for a stall.
const looks = 4

// watch reports stalls, and on SIGQUIT, until the function that it returns is
// called. The end of the run's context is no reason to stop: that a task does not
// heed it is when somebody wants to know.
func (rt *Runtime) watch() (stop func()) {
	var all sync.WaitGroup
	ended := make(chan struct{})
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
	w := watcher{rt: rt, seen: make(map[*Access]sighting), moved: time.Now()}
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
		case now := <-tick:
			w.look(now)
			if still := now.Sub(w.moved); still >= rt.o.Stall && !w.told {
				w.told = true
				rt.stalled(w.report(now))
			}
		case <-quit:
			// The next one is Go's again, which prints every goroutine and ends.
			signal.Stop(quit)
			now := time.Now()
			w.look(now)
			os.Stderr.WriteString(w.report(now).String())
		}
	}
}

// look notices what has moved.
func (w *watcher) look(now time.Time) {
	for _, t := range w.rt.tasks {
		for _, a := range t.accesses {
			l := a.Place().Look(a.resource)
			if s, ok := w.seen[a]; ok && s.stamp == l.Stamp {
				continue
			}
			w.seen[a] = sighting{l.Stamp, now}
			w.moved, w.told = now, false
		}
	}
}

func (w *watcher) report(now time.Time) Report {
	r := w.rt.report(func(a *Access, stamp uint64) time.Duration {
		if s, ok := w.seen[a]; ok && s.stamp == stamp {
			return now.Sub(s.since)
		}
		return 0
	})
	r.Still = now.Sub(w.moved)
	return r
}

// stalled tells of a stall.
func (rt *Runtime) stalled(r Report) {
	if rt.o.OnStall != nil {
		rt.o.OnStall(r)
		return
	}
	rt.o.Log.Warn("orwl: nothing has moved", "for", r.Still.Round(time.Millisecond), "tasks", len(r.Tasks), "report", "\n"+r.String())
}
