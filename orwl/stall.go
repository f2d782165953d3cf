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
	rt   *Runtime
	told time.Time // when what had not moved since was told of
}

// looks is how often the watcher looks while it waits for a stall.
const looks = 4

// watch reports stalls, and on SIGQUIT, until the function that it returns is
// called. The end of the run's context is no reason to stop: that a task does not
// heed it is when somebody wants to know.
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
			// The next one is Go's again, which prints every goroutine and ends.
			signal.Stop(quit)
			os.Stderr.WriteString(rt.Report().String())
		}
	}
}

// look tells of a stall, once until something moves again.
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

// Stalls is how often nothing has moved for as long as Options.Stall says, and whether
// nothing does now.
func (rt *Runtime) Stalls() (times uint64, now bool) { return rt.stalls.Load(), rt.still.Load() }

// stalled tells of a stall.
func (rt *Runtime) stalled(r Report) {
	rt.stalls.Add(1)
	rt.still.Store(true)
	if rt.o.OnStall != nil {
		rt.o.OnStall(r)
		return
	}
	rt.o.Log.Warn("orwl: nothing has moved", "for", r.Still.Round(time.Millisecond), "tasks", len(r.Tasks), "report", "\n"+r.String())
}
