package orwl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl/inspect"
)

// In these tests time is a synctest bubble's: it passes, at once, when all goroutines
// wait.

const stall = 4 * time.Second

// A stall is told once, and again only after something has moved. The watcher
// looks four times as often, and so may tell a quarter late.
func TestStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stalls := make(chan inspect.State, 10)
		var log bytes.Buffer // stays empty
		rt, goOn := halting(t, Options{Stall: stall, onStall: func(s inspect.State) { stalls <- s }, Log: slog.New(slog.NewTextHandler(&log, nil))})
		ran := make(chan error)
		began := time.Now()
		go func() { ran <- rt.Run(context.Background()) }()
		for round := range 3 {
			moved := time.Now()
			r := <-stalls
			if late := time.Since(moved); late < stall || late > stall+stall/looksPerStall {
				t.Errorf("told %v after it moved", late)
			}
			want := fmt.Sprintf(`a, round %[1]d, holds x z, works
e, round 0, works
f, round 0, holds u, works
b, round %[1]d, holds y, waits to read x for 4s ──▶ a
c, round %[1]d, waits to read y for 4s ──▶ b
d, round %[1]d, holds z, waits to read x for 4s ──▶ a
g, round 0, waits to read u for %v ──▶ f
`, round, time.Since(began)-stall/looksPerStall)
			if culprit := fmt.Sprintf(": task a works in round %d for 4s, at orwl.halting.", round); !strings.Contains(r.Why, culprit) ||
				!strings.HasSuffix(r.Why, ", and holds x, z; 3 tasks wait for it: c ──▶ b ──▶ a") {
				t.Errorf("the culprit is %q", r.Why)
			}
			r.Why = ""
			if r.Still.Duration != stall || r.String() != want {
				t.Errorf("still for %v\n%v, want\n%s", r.Still, r, want)
			}
			if r.Stalls != uint64(round)+1 || !r.Stalled {
				t.Errorf("the state has %d stalls, stalled is %t, in round %d", r.Stalls, r.Stalled, round)
			}
			<-time.After(time.Minute + stall/looksPerStall/2) // of the bubble; between two looks
			if len(stalls) > 0 {
				t.Errorf("told %d times more of the same stall", len(stalls))
			}
			goOn <- struct{}{}
		}
		if err := <-ran; err != nil || log.Len() > 0 {
			t.Errorf("%v, and logged: %s", err, log.String())
		}
		if s := rt.Inspect(); s.Stalls != 3 {
			t.Errorf("%d stalls in the end, want 3", s.Stalls)
		}
	})
}

// slowEnd is an observer that takes long when a task has ended.
type slowEnd struct{}

func (slowEnd) Observe(e Event) {
	if e.Kind == Ended {
		<-time.After(3 * stall) // of the bubble
	}
}

// While something moves, however slowly, nothing is told, and neither when all tasks have ended.
func TestNoStall(t *testing.T) {
	for name, o := range map[string]Options{
		"moves": {Stall: stall, onStall: func(s inspect.State) { t.Errorf("stall:\n%v", s) }},
		"never": {Stall: -1, onStall: func(s inspect.State) { t.Errorf("stall:\n%v", s) }},
		"ends":  {Stall: stall, onStall: func(s inspect.State) { t.Errorf("stall:\n%v", s) }, Observers: []Observer{slowEnd{}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rt := mustNew(t, o)
				task := rt.Task("a")
				task.Write(rt.Resource("r", 0))
				pause := stall * (looksPerStall - 1) / looksPerStall
				if o.Stall < 0 {
					pause = time.Hour
				}
				task.Each(5, func(int) error {
					<-time.After(pause) // of the bubble
					return nil
				})
				if err := rt.Run(context.Background()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// Without Options.onStall the report is in the log.
func TestStallIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		rt := mustNew(t, Options{Stall: stall, Log: slog.New(slog.NewTextHandler(&out, nil))})
		rt.Task("a").Do(func(*Task) error {
			<-time.After(time.Hour) // of the bubble
			return nil
		})
		if err := rt.Run(context.Background()); err != nil {
			t.Error(err)
		}
		text := out.String()
		if want := `level=WARN msg="orwl: nothing has moved" for=4s tasks=1 report="\nprocess `; strings.Count(text, want) != 1 || !strings.Contains(text, `; no task waits for it\na, round 0, works\n"`) {
			t.Errorf("%s, want %s once", text, want)
		}
	})
}

// The end of the run's context does not end the watch: a task that does not heed that
// end needs a report most.
func TestStallAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stalls := make(chan inspect.State, 1)
		rt := mustNew(t, Options{Stall: stall, onStall: func(s inspect.State) { stalls <- s }})
		deaf := make(chan struct{})
		rt.Task("deaf").Do(func(*Task) error { <-deaf; return nil })
		rt.Task("fails").Do(func(*Task) error { return errPlanned })
		ran := make(chan error)
		go func() { ran <- rt.Run(context.Background()) }()
		if got := (<-stalls).String(); !strings.HasSuffix(got, "; no task waits for it\ndeaf, round 0, works\n") {
			t.Errorf("%s", got)
		}
		close(deaf)
		if err := <-ran; err == nil {
			t.Error("no error")
		}
	})
}

// A pair that is dropped with a request stops its queue. The report says that no task does.
func TestStallBehindADroppedPair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stalls := make(chan inspect.State, 1)
		rt := mustNew(t, Options{Stall: stall, onStall: func(s inspect.State) { stalls <- s }})
		r := rt.Resource("r", 0)
		var p handle.Pair
		if err := errors.Join(p.Request(r, queue.Write), p.Acquire(t.Context()), p.Next()); err != nil {
			t.Fatal(err)
		}
		a := rt.Task("a")
		a.Write(r)
		a.Each(1, func(int) error { return nil })
		ran := make(chan error)
		go func() { ran <- rt.Run(context.Background()) }()
		want := ": a handle of no task has r; 1 task waits for it: a ──▶ a handle of no task\n" +
			"a, round 0, waits to write r for 4s ──▶ a handle of no task\n"
		if got := (<-stalls).String(); !strings.HasSuffix(got, want) {
			t.Errorf("%s, want\n%s", got, want)
		}
		if err := p.Cancel(); err != nil {
			t.Error(err)
		}
		if err := <-ran; err != nil {
			t.Error(err)
		}
	})
}
