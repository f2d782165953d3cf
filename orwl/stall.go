package orwl

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"sync"
	"time"

	"github.com/orwl/go-orwl/orwl/internal/linked"
	"github.com/orwl/go-orwl/orwl/internal/looks"
)

// watcher looks at a run now and then, to notice when nothing moves any more. It reads
// only words that the tasks write anyway, so it does not slow them.
type watcher struct {
	rt   *Runtime
	told time.Time // the time of the last change before the last report
}

// looksPerStall is how often the watcher looks in one Options.Stall.
const looksPerStall = 4

// watch reports stalls, and on SIGQUIT, until the caller calls stop. It goes on after
// the end of the run's context: a task that does not heed that end needs the report
// most.
func (rt *Runtime) watch() (stop func()) {
	var all sync.WaitGroup
	ended := make(chan struct{})
	rt.seen.Begin(time.Now())
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
		ticker := time.NewTicker(rt.o.Stall / looksPerStall)
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
			s := rt.Inspect()
			s.Why = rt.why(context.Background())
			os.Stderr.WriteString(s.String())
			rt.flight("quit")
		}
	}
}

// look reports a stall, and then not again until something has moved.
func (w *watcher) look() {
	rt := w.rt
	l := rt.look()
	moved := rt.seen.Moved()
	if !w.told.Equal(moved) {
		rt.still.Store(false)
	}
	if l.Still >= rt.o.Stall && !w.told.Equal(moved) {
		w.told = moved
		rt.stalled(l)
	}
}

// stalled reports a stall, with the culprit among all nodes.
func (rt *Runtime) stalled(l *looks.Look) {
	rt.stalls.Add(1)
	rt.still.Store(true)
	rt.flight("stall")
	s := rt.state(l)
	s.Why = rt.InspectAll(context.Background()).Why().Text
	if rt.o.onStall != nil {
		rt.o.onStall(s)
		return
	}
	running := 0
	for _, t := range s.Tasks {
		if t.Runs() {
			running++
		}
	}
	rt.o.Log.Warn("orwl: nothing has moved", "for", s.Still.Round(time.Millisecond), "tasks", running, "report", "\n"+s.String())
}

// flightVariable names the folder of the flight recorder: what the tasks did last is written there when nothing moves, at SIGQUIT, and when
// the run ends with an error.
const flightVariable = "ORWL_FLIGHT"

// flies begins to record if ORWL_FLIGHT says so.
func (rt *Runtime) flies() {
	rt.flight = func(string) {}
	dir := os.Getenv(flightVariable)
	switch {
	case dir == "":
		return
	case linked.Flight == nil:
		rt.o.Log.Warn("orwl: ORWL_FLIGHT is set, and the program has no recorder: write import _ \"github.com/orwl/go-orwl/orwl/trace\" in it")
		return
	}
	observer, write := linked.Flight(linked.Flown{Dir: dir, Log: rt.o.Log})
	rt.o.Observers = append(slices.Clone(rt.o.Observers), observer.(Observer))
	rt.flight = write
}
