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
			os.Stderr.WriteString(rt.Report().String())
		}
	}
}

// look reports a stall, and then not again until something has moved.
func (w *watcher) look() {
	rt := w.rt
	r := rt.Report()
	moved := rt.seen.when()
	if !w.told.Equal(moved) {
		rt.still.Store(false)
	}
	if r.Still >= rt.o.Stall && !w.told.Equal(moved) {
		w.told = moved
		rt.stalled(r)
	}
}

// Stalls counts the stalls: nothing has moved for Options.Stall. now says whether
// nothing moves now.
func (rt *Runtime) Stalls() (times uint64, now bool) { return rt.stalls.Load(), rt.still.Load() }

// stalled reports a stall.
func (rt *Runtime) stalled(r Report) {
	rt.stalls.Add(1)
	rt.still.Store(true)
	if rt.o.OnStall != nil {
		rt.o.OnStall(r)
		return
	}
	rt.o.Log.Warn("orwl: nothing has moved", "for", r.Still.Round(time.Millisecond), "tasks", len(r.Tasks), "report", "\n"+r.String())
}
