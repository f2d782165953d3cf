package orwl_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/resource"
)

// A step that fails, panics or exits ends the run, with its error, and the others end.
func TestStepFails(t *testing.T) {
	fails := errors.New("fails")
	for name, body := range map[string]func() error{
		"error": func() error { return fails },
		"panic": func() error { panic(fails) },
		"exit":  func() error { runtime.Goexit(); return nil },
		"value": func() error { var a [1]int; i := 1; return fmt.Errorf("%d", a[i%2]) },
	} {
		rt := newRuntime()
		r := rt.Resource("r", 8)
		for i := range 5 {
			task := rt.Task(fmt.Sprint(i))
			task.Write(r)
			task.Each(-1, func(round int) error {
				if i == 3 && round == 10 {
					return body()
				}
				return nil
			})
		}
		err := rt.Run(t.Context())
		if err == nil || !strings.HasPrefix(err.Error(), `orwl: task "3": `) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The end of the context ends steps that go on for ever, and those that wait.
func TestStepsEnd(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	defer end()
	rt := newRuntime()
	r := rt.Resource("r", 8)
	for i := range 5 {
		task := rt.Task(fmt.Sprint(i))
		task.Write(r)
		task.Each(-1, func(round int) error {
			if round == 100 {
				end()
			}
			return nil
		})
	}
	if err := rt.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// A task has one body.
func TestStepTwoBodies(t *testing.T) {
	for _, declare := range []func(*orwl.Task){
		func(t *orwl.Task) {
			t.Each(1, func(int) error { return nil })
			t.Each(1, func(int) error { return nil })
		},
		func(t *orwl.Task) {
			t.Each(1, func(int) error { return nil })
			t.Do(func(*orwl.Task) error { return nil })
		},
		func(t *orwl.Task) {
			t.Do(func(*orwl.Task) error { return nil })
			t.Each(1, func(int) error { return nil })
		},
	} {
		rt := newRuntime()
		declare(rt.Task("t"))
		if err := rt.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "task has a body already") {
			t.Errorf("%v", err)
		}
	}
}

// Two steps that make each other ready again and again let a third one run.
func TestStepsLetOthersRun(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	ctx, end := context.WithCancel(t.Context())
	defer end()
	rt := newRuntime()
	r, q := rt.Resource("r", 8), rt.Resource("q", 8)
	for _, name := range []string{"a", "b"} {
		step := rt.Task(name)
		step.Write(r)
		step.Each(-1, func(int) error { return nil })
	}
	third := rt.Task("third")
	third.Write(q)
	third.Each(3, func(round int) error {
		if round == 2 {
			end()
		}
		return nil
	})
	task := rt.Task("task")
	task.Write(q)
	task.Each(3, func(int) error { return nil })
	if err := rt.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// waitObserver counts what one task's accesses tell.
type waitObserver struct {
	of              string
	waits, acquired int
	waiting         bool
	twice           bool // it waited while it waited
}

func (o *waitObserver) Observe(e orwl.Event) {
	if e.Kind == orwl.Declared && e.Task.Name() == o.of {
		e.Access.Place().Observe((*stepWaits)(o), queue.Waiting|queue.Acquired)
	}
}

// stepWaits hears of the accesses.
type stepWaits waitObserver

func (o *stepWaits) Observe(e queue.Event) {
	if e.Kind == queue.Acquired {
		o.acquired, o.waiting = o.acquired+1, false
		return
	}
	o.twice = o.twice || o.waiting
	o.waits, o.waiting = o.waits+1, true
}

// A step tells its observers that it waits: one of its accesses does, once a round.
func TestStepWaits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // so there is one worker
	const rounds = 5
	o := &waitObserver{of: "first"}
	rt, err := orwl.New(orwl.Options{Observers: []orwl.Observer{o}})
	must(err)
	r, q := rt.Resource("r", 8), rt.Resource("q", 8)
	for _, name := range []string{"first", "second"} {
		step := rt.Task(name)
		step.Write(r)
		step.Write(q)
		step.Each(rounds, func(int) error { return nil })
	}
	must(rt.Run(t.Context()))
	if o.twice {
		t.Error("it waited while it waited")
	}
	// It has its accesses at first, and then waits for the second step in each round.
	if o.waits != rounds-1 || o.acquired != 2*rounds {
		t.Errorf("it has waited %d times, want %d, and acquired %d, want %d", o.waits, rounds-1, o.acquired, 2*rounds)
	}
}

// A step that waits for one access after another, in its second round, tells its observers once.
func TestStepWaitsOnce(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // so there is one worker
	o := &waitObserver{of: "first"}
	rt, err := orwl.New(orwl.Options{Observers: []orwl.Observer{o}})
	must(err)
	all := []*resource.Resource{rt.Resource("a", 8), rt.Resource("b", 8), rt.Resource("c", 8)}
	step := rt.Task("first") // so the worker looks at it first
	for _, r := range all {
		step.Read(r)
	}
	step.Each(2, func(int) error { return nil })
	for _, r := range all {
		step := rt.Task("writes " + r.Name())
		step.Write(r)
		step.Each(1, func(int) error { return nil })
	}
	must(rt.Run(t.Context()))
	if o.waits != 1 || o.acquired != 2*len(all) || o.twice {
		t.Errorf("it has waited %d times, want 1, and acquired %d, want %d; it waited while it waited: %v", o.waits, o.acquired, 2*len(all), o.twice)
	}
}

// Two steps end themselves in the same round, before their number of rounds.
func TestLast(t *testing.T) {
	rt, err := orwl.New(orwl.Options{})
	must(err)
	r := orwl.Array[int64](rt, "r", 1)
	for i := range 2 {
		step := rt.Task(fmt.Sprint("step ", i))
		own := orwl.Writes[int64](step, r)
		step.Each(100, func(round int) error {
			own.Slice()[0]++
			if round == 6 {
				step.Last()
			}
			return nil
		})
	}
	must(rt.Run(t.Context()))
	got, err := orwl.Values[int64](t.Context(), r)
	must(err)
	if got[0] != 14 {
		t.Errorf("%d rounds, want 14", got[0])
	}
}
