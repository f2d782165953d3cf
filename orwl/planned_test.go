package orwl

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl/inspect"
	"github.com/orwl/go-orwl/orwl/internal/goroutine"
	"github.com/orwl/go-orwl/resource"
)

// alternate declares two steps that write one resource in turn. body is the body of the first one.
func alternate(rt *Runtime, rounds int, body func(task *Task, a *Access, round int) error) *resource.Resource {
	r := rt.Resource("r", 8)
	first, second := rt.Task("first"), rt.Task("second")
	a := first.Write(r)
	b := second.Write(r)
	first.Each(rounds, func(round int) error { return body(first, a, round) })
	second.Each(rounds, func(int) error { Write[uint64](b)[0]++; return nil })
	return r
}

// A body of Each holds its accesses from its beginning to its end. It cannot release them, or acquire them
// again, and the error changes nothing.
func TestBodyOfEachHolds(t *testing.T) {
	for name, do := range map[string]func(task *Task, a *Access) error{
		"release": func(_ *Task, a *Access) error { return a.Place().Release() },
		"pair":    func(_ *Task, a *Access) error { return a.Place().Renew() },
		"acquire": func(task *Task, a *Access) error { return a.Place().Acquire(task.Context()) },
		"request": func(_ *Task, a *Access) error { return a.Place().Request(core(a.Resource()), queue.Write) },
		"cancel":  func(_ *Task, a *Access) error { return a.Place().Cancel() },
	} {
		rt := mustNew(t, Options{})
		r := alternate(rt, 5, func(task *Task, a *Access, _ int) error {
			var misuse *queue.PlaceError
			if err := do(task, a); !errors.As(err, &misuse) {
				return fmt.Errorf("%s: %w", name, err)
			}
			Write[uint64](a)[0]++
			return nil
		})
		if err := rt.Run(t.Context()); err != nil {
			t.Error(err)
		}
		if v, err := Values[uint64](t.Context(), r); err != nil || v[0] != 10 {
			t.Errorf("%s: %v, %v", name, v, err)
		}
		checkIdle(t, rt)
	}
}

// A run has its resources for itself. A handle from outside gets one when the run has ended, with all
// that the run has written.
func TestOutsideWaitsForTheEnd(t *testing.T) {
	rt := mustNew(t, Options{})
	began, got := make(chan struct{}), make(chan uint64)
	r := alternate(rt, 1000, func(_ *Task, a *Access, round int) error {
		if round == 0 {
			close(began)
		}
		Write[uint64](a)[0]++
		return nil
	})
	go func() {
		<-began
		v, err := Values[uint64](context.Background(), r)
		if err != nil {
			t.Error(err)
		}
		got <- v[0]
	}()
	if err := rt.Run(t.Context()); err != nil {
		t.Error(err)
	}
	if v := <-got; v != 2000 {
		t.Errorf("a reader from outside has seen %d, want 2000", v)
	}
}

// A run waits until a handle outside gives its resource back.
func TestRunWaitsForOutside(t *testing.T) {
	rt := mustNew(t, Options{})
	var outside handle.Handle
	r := alternate(rt, 3, func(_ *Task, a *Access, _ int) error {
		if v := Write[uint64](a)[0]; v < 100 {
			return fmt.Errorf("it sees %d", v)
		}
		return nil
	})
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(outside.Request(r, queue.Write))
	must(outside.Acquire(t.Context()))
	over := make(chan error)
	go func() { over <- rt.Run(context.Background()) }()
	v, err := handle.Write[uint64](&outside)
	must(err)
	v[0] = 100
	must(outside.Release())
	must(<-over)
}

// A task of a run that asks for a resource of the run past its declaration gets an error, and does not
// hang.
func TestUndeclaredInABody(t *testing.T) {
	for name, ask := range map[string]func(ctx context.Context, r *resource.Resource) error{
		"values": func(ctx context.Context, r *resource.Resource) error {
			_, err := Values[uint64](ctx, r)
			return err
		},
		"fill": func(ctx context.Context, r *resource.Resource) error {
			return Fill(ctx, r, func([]uint64) {})
		},
		"snapshot": func(_ context.Context, r *resource.Resource) error {
			_, _, err := (*queue.Resource)(r).Snapshot(context.Background(), nil) // not the task's context
			return err
		},
	} {
		rt := mustNew(t, Options{})
		other := rt.Resource("other", 8)
		alternate(rt, 2, func(task *Task, _ *Access, _ int) error {
			if err := ask(task.Context(), other); !errors.Is(err, queue.ErrRunHas) || !strings.Contains(err.Error(), "other") {
				return fmt.Errorf("%s: %w", name, err)
			}
			return nil
		})
		user := rt.Task("user")
		user.Read(other)
		user.Each(2, func(int) error { return nil })
		if err := rt.Run(t.Context()); err != nil {
			t.Error(err)
		}
		if err := ask(t.Context(), other); err != nil {
			t.Errorf("%s, after the run: %v", name, err)
		}
	}
}

// A body that asks for the values of what it holds gets an error at once, with any context.
func TestValuesOfWhatABodyHolds(t *testing.T) {
	if goroutine.Number() == 0 {
		t.Skip("nothing tells goroutines apart on this processor")
	}
	for name, ask := range map[string]func(ctx context.Context, r *resource.Resource) error{
		"values": func(ctx context.Context, r *resource.Resource) error {
			_, err := Values[uint64](ctx, r)
			return err
		},
		"fill": func(ctx context.Context, r *resource.Resource) error {
			return Fill(ctx, r, func([]uint64) { t.Error("it fills what a body holds") })
		},
	} {
		for _, own := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				rt := mustNew(t, Options{Stall: stall, onStall: func(s inspect.State) {
					t.Errorf("%s hangs:\n%v", name, s)
					cancel()
				}})
				r := Array[uint64](rt, "held", 1)
				task := rt.Task("holder")
				Writes[uint64](task, r)
				task.Each(1, func(int) error {
					if own {
						return ask(task.Context(), r)
					}
					return ask(ctx, r)
				})
				if err := rt.Run(ctx); !errors.Is(err, queue.ErrRunHas) || !strings.Contains(err.Error(), `"held"`) || !strings.Contains(err.Error(), `task "holder"`) {
					t.Errorf("%s, its own context %t: %v, want an error that names the array and the task", name, own, err)
				}
			})
		}
	}
}

// A body that panics, or ends its goroutine, leaves nothing locked. Short bodies run under the lock of a book:
// so the step is one of many that are short.
func TestShortBodyDies(t *testing.T) {
	for name, die := range map[string]func(){"panic": func() { panic(errPlanned) }, "exit": runtime.Goexit} {
		for _, after := range []int{0, 100, 5000} {
			rt := mustNew(t, Options{})
			alternate(rt, -1, func(_ *Task, _ *Access, round int) error {
				if round == after {
					die()
				}
				return nil
			})
			err := rt.Run(t.Context())
			if name == "panic" && !errors.Is(err, errPlanned) || name == "exit" && !errors.Is(err, errExit) {
				t.Errorf("%s after %d rounds: %v", name, after, err)
			}
			checkIdle(t, rt)
		}
	}
}

// A resource that breaks ends the run.
func TestPlannedBreaks(t *testing.T) {
	rt := mustNew(t, Options{})
	var r *resource.Resource
	r = alternate(rt, -1, func(_ *Task, _ *Access, round int) error {
		if round == 3 {
			core(r).Break(errPlanned)
		}
		return nil
	})
	if err := rt.Run(t.Context()); !errors.Is(err, errPlanned) || !errors.Is(err, queue.ErrBroken) {
		t.Error(err)
	}
}

// A report of a run that goes by a plan shows which task waits for which, as a queue would.
func TestInspectPlanned(t *testing.T) {
	rt := mustNew(t, Options{})
	r := rt.Resource("r", 8)
	tell := make(chan inspect.State)
	for i, mode := range []queue.Mode{queue.Write, queue.Read, queue.Read, queue.Write} {
		task := rt.Task(fmt.Sprint("t", i))
		task.access(core(r), mode, nil)
		task.Each(2, func(round int) error {
			if i == 1 && round == 1 {
				tell <- rt.Inspect()
			}
			return nil
		})
	}
	over := make(chan error)
	go func() { over <- rt.Run(context.Background()) }()
	text := (<-tell).String()
	if err := <-over; err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text, "t1, round 1, holds r, works\n") || !strings.Contains(text, "t3, round 1, waits to write r ──▶ t1") {
		t.Errorf("the report:\n%s", text)
	}
}

// A report tells how long a round takes, and which circle of tasks sets the pace. Two tasks that write one
// resource in turn are such a circle.
func TestPace(t *testing.T) {
	rt := mustNew(t, Options{})
	var s inspect.State
	alternate(rt, 1000, func(_ *Task, _ *Access, round int) error {
		if round == 500 {
			s = rt.Inspect()
		}
		return nil
	})
	if s := rt.Inspect(); s.Pace != nil {
		t.Errorf("before the run: %v", s.Pace)
	}
	began := time.Now()
	if err := rt.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	p := s.Pace
	if p == nil || len(p.Circle) != 2 || p.Round.Duration <= 0 || p.Bound.Duration <= 0 || p.Work.Duration <= 0 || p.Workers < 1 {
		t.Fatalf("%+v", p)
	}
	if text := s.String(); !strings.Contains(text, "a round takes ") || !strings.Contains(text, " ──▶ ") || !strings.HasSuffix(text, " workers\n") && !strings.HasSuffix(text, " 1 worker\n") {
		t.Errorf("the report:\n%s", text)
	}
	if s := rt.Inspect(); s.Pace == nil || s.Pace.Round.Duration <= 0 || s.Pace.Round.Duration > time.Since(began) {
		t.Errorf("after the run: %v", s.Pace)
	}
}

// Steps that all wait for each other in one circle have one worker. Others have as many as there are
// processors.
func TestInTurn(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for name, c := range map[string]struct {
		declare func(rt *Runtime)
		workers int
	}{
		"two that write": {func(rt *Runtime) { alternate(rt, 3, func(*Task, *Access, int) error { return nil }) }, 1},
		"two readers": {func(rt *Runtime) {
			r := rt.Resource("r", 8)
			for i := range 2 {
				task := rt.Task(fmt.Sprint(i))
				task.Read(r)
				task.Each(3, func(int) error { return nil })
			}
		}, 2},
		"two that write, and one alone": {func(rt *Runtime) {
			alternate(rt, 3, func(*Task, *Access, int) error { return nil })
			alone := rt.Task("alone")
			alone.Write(rt.Resource("s", 8))
			alone.Each(3, func(int) error { return nil })
		}, 3},
		"two that write, and one without rounds": {func(rt *Runtime) {
			r := alternate(rt, 3, func(*Task, *Access, int) error { return nil })
			none := rt.Task("none")
			none.Write(r)
			none.Each(0, nil)
		}, 1},
	} {
		rt := mustNew(t, Options{})
		c.declare(rt)
		if err := rt.Run(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := len(rt.run.planned.workers); got != c.workers {
			t.Errorf("%s: %d workers, want %d", name, got, c.workers)
		}
	}
}

// A request that was made for a step before the run breaks the canonical order. Run takes back what it has
// joined.
func TestStepHasRequested(t *testing.T) {
	rt := mustNew(t, Options{})
	r := alternate(rt, 3, func(*Task, *Access, int) error { t.Error("it runs"); return nil })
	early := rt.tasks[1].accesses[0]
	if err := early.Place().Request(core(r), queue.Write); err != nil {
		t.Fatal(err)
	}
	if err := rt.Run(t.Context()); !errors.Is(err, queue.ErrRequested) || !strings.Contains(err.Error(), `"second"`) {
		t.Error(err)
	}
	checkIdle(t, rt)
}

// TestHelp has a task of a worker that is in a long body run on another worker, which has a task without end.
func TestHelp(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // so many workers
	rt := mustNew(t, Options{})
	ran := make(chan struct{})
	ctx, end := context.WithCancel(t.Context())
	defer end()
	for _, c := range []struct {
		name   string
		rounds int
		body   func()
	}{
		{"long", 1, func() { <-ran; end() }},
		{"ready", 1, func() { close(ran) }},
		{"without end", -1, func() {}},
	} {
		task := rt.Task(c.name)
		Writes[int64](task, Array[int64](rt, c.name, 1))
		task.Each(c.rounds, func(int) error { c.body(); return nil })
	}
	if err := rt.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("the run ends with %v", err)
	}
}
