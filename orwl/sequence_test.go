package orwl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl/liveness"
)

// twoOfTask declares a task that writes a and reads b.
func twoOfTask(t *testing.T) (rt *Runtime, task *Task, a, b *Access) {
	rt = mustNew(t, Options{})
	task = rt.Task("t")
	return rt, task, task.Write(rt.Resource("a", 8)), task.Read(rt.Resource("b", 8))
}

// A wrong Sequence is refused before anything runs.
func TestWrongSequence(t *testing.T) {
	for name, c := range map[string]struct {
		declare func(rt *Runtime, task *Task, a, b *Access)
		want    string
	}{
		"missing": {func(rt *Runtime, task *Task, a, b *Access) { task.Sequence(Acquire(a), Release(a)) },
			`access 2 of task 0 ("t") (read b) is not acquired in its sequence: acquire each access once, and then release it once`},
		"kept": {func(rt *Runtime, task *Task, a, b *Access) { task.Sequence(Acquire(a, b), Release(b)) },
			`access 1 of task 0 ("t") (write a) is not released in its sequence`},
		"twice": {func(rt *Runtime, task *Task, a, b *Access) { task.Sequence(Acquire(a, b), Acquire(b), Release(a, b)) },
			`access 2 of task 0 ("t") (read b) is acquired twice, in step 2`},
		"not held": {func(rt *Runtime, task *Task, a, b *Access) { task.Sequence(Release(a), Acquire(a, b), Release(b)) },
			`access 1 of task 0 ("t") (write a) is released before it is acquired, in step 1`},
		"declared after it": {func(rt *Runtime, task *Task, a, b *Access) {
			task.Sequence(Acquire(a, b), Release(a, b))
			task.Read(rt.Resource("late", 8))
		}, `access 3 of task 0 ("t") (read late) is not acquired in its sequence`},
		"no access": {func(rt *Runtime, task *Task, a, b *Access) { task.Sequence(Acquire(a, b), Acquire(), Release(a, b)) },
			`task 0 ("t") has no access in step 2`},
		"foreign": {func(rt *Runtime, task *Task, a, b *Access) {
			task.Sequence(Acquire(a, b), Release(a, rt.Task("u").Read(rt.Lookup("b"))))
		}, `wrong sequence: step 2 of task "t" names an access that is not the task's`},
		"nil":   {func(rt *Runtime, task *Task, a, b *Access) { task.Sequence(Acquire(nil)) }, `wrong sequence: step 1 of task "t" names an access`},
		"empty": {func(rt *Runtime, task *Task, a, b *Access) { task.Sequence() }, `wrong sequence: task "t" has no step`},
		"two of them": {func(rt *Runtime, task *Task, a, b *Access) {
			task.Sequence(Acquire(a, b), Release(a, b))
			task.Sequence(Acquire(a, b), Release(a, b))
		}, `wrong sequence: task "t" has one already`},
	} {
		t.Run(name, func(t *testing.T) {
			rt, task, a, b := twoOfTask(t)
			c.declare(rt, task, a, b)
			for _, task := range rt.tasks {
				task.Do(func(*Task) error { t.Error("it runs"); return nil })
			}
			err := rt.Run(t.Context())
			var bad *liveness.SystemError
			if !errors.As(err, &bad) && !errors.Is(err, errSequence) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

// A body that leaves its Sequence gets an error that names the access and the step. The
// access stays as it was, so the body can go on in the right order.
func TestBodyBreaksSequence(t *testing.T) {
	rt, task, a, b := twoOfTask(t)
	task.Sequence(Acquire(a), Acquire(b), Release(a), Release(b))
	task.Do(func(task *Task) error {
		acquire := func(x *Access) func() error { return func() error { return x.Acquire(task.Context()) } }
		refused := func(try func() error, op liveness.Op, x *Access, step int, want string) {
			t.Helper()
			err := try()
			var bad *sequenceError
			if !errors.As(err, &bad) || !errors.Is(err, errSequence) {
				t.Fatalf("%v, want a *sequenceError", err)
			}
			if *bad != (sequenceError{"t", op, x.Resource().Name(), x.Mode(), step, want}) {
				t.Errorf("%#v", bad)
			}
		}
		done := func(try func() error) {
			t.Helper()
			if err := try(); err != nil {
				t.Fatal(err)
			}
		}
		for range 3 {
			refused(acquire(b), liveness.Acquire, b, 0, `acquire "a" (write)`)
			refused(a.Next, liveness.Release, a, 0, `acquire "a" (write)`)
			done(acquire(a))
			refused(a.Next, liveness.Release, a, 1, `acquire "b" (read)`)
			refused(a.Release, liveness.Release, a, 1, `acquire "b" (read)`)
			refused(acquire(a), liveness.Acquire, a, 1, `acquire "b" (read)`)
			done(acquire(b))
			refused(b.Next, liveness.Release, b, 2, `release "a" (write)`)
			refused(b.Release, liveness.Release, b, 2, `release "a" (write)`)
			done(a.Next)
			refused(acquire(a), liveness.Acquire, a, 3, `release "b" (read)`)
			done(b.Next)
		}
		done(acquire(a))
		done(acquire(b))
		done(a.Release)
		done(b.Release)
		return nil
	})
	if err := rt.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	checkIdle(t, rt)
	err := error(&sequenceError{"t", liveness.Acquire, "b", queue.Read, 0, `acquire "a" (write)`})
	if want := `orwl: wrong sequence: task "t" cannot acquire "b" (read) in step 1 of its round: acquire "a" (write) first, or declare another Sequence`; err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// Within a step the order is free, but a step does everything once.
func TestSequenceStepInAnyOrder(t *testing.T) {
	rt, task, a, b := twoOfTask(t)
	task.Sequence(Acquire(a, b), Release(a, b))
	task.Do(func(task *Task) error {
		ctx := task.Context()
		for round := range 2 {
			x, y := a, b
			if round == 1 {
				x, y = b, a
			}
			if err := x.Acquire(ctx); err != nil {
				return err
			}
			if err := x.Acquire(ctx); !errors.Is(err, queue.ErrHeld) {
				t.Errorf("acquires twice: %v", err)
			}
			if err := x.Next(); !errors.Is(err, errSequence) {
				t.Errorf("releases in the first step: %v", err)
			}
			if err := errors.Join(y.Acquire(ctx), y.Next()); err != nil {
				return err
			}
			if err := y.Next(); err == nil || errors.Is(err, errSequence) {
				t.Errorf("releases twice: %v", err)
			}
			if err := x.Next(); err != nil {
				return err
			}
		}
		return nil
	})
	if err := rt.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A wait that its context ends is no step. The body acquires again.
func TestSequenceAfterCancelledAcquire(t *testing.T) {
	rt := mustNew(t, Options{})
	r := rt.Resource("r", 8)
	first, second := rt.Task("first"), rt.Task("second")
	x, y := first.Write(r), second.Write(r)
	second.Sequence(Acquire(y), Release(y))
	tried := make(chan struct{})
	first.Do(func(task *Task) error {
		if err := x.Acquire(task.Context()); err != nil {
			return err
		}
		<-tried
		return x.Release()
	})
	second.Do(func(task *Task) error {
		defer close(tried)
		ended, cancel := context.WithCancel(task.Context())
		cancel()
		if err := y.Acquire(ended); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		tried <- struct{}{}
		return errors.Join(y.Acquire(task.Context()), y.Release())
	})
	if err := rt.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// An access that is abandoned while it is held has lost its turn. The step that releases it
// cannot be done any more, so the task does not go on.
func TestSequenceAfterLostTurn(t *testing.T) {
	rt, task, a, b := twoOfTask(t)
	task.Sequence(Acquire(a), Release(a), Acquire(b), Release(b))
	task.Do(func(task *Task) error {
		failed := errors.New("planned")
		if err := errors.Join(a.Acquire(task.Context()), a.Abandon(failed)); err != nil {
			t.Error(err)
		}
		if err := a.Request(a.Resource(), a.Mode()); !errors.Is(err, errOver) {
			t.Errorf("%v, want an access that has ended", err)
		}
		for _, x := range []*Access{a, b} {
			if err := x.Acquire(task.Context()); !errors.Is(err, errSequence) {
				t.Errorf("%v, want a wrong sequence", err)
			}
		}
		return nil
	})
	if err := rt.Run(t.Context()); err != nil {
		t.Error(err)
	}
}

// Rounds and Each hold all accesses at once, so they take only a Sequence that does.
func TestRoundsAndEachOfSequence(t *testing.T) {
	all := func(a, b *Access) []Step { return []Step{Acquire(b), Acquire(a), Release(a), Release(b)} }
	apart := func(a, b *Access) []Step { return []Step{Acquire(a), Release(a), Acquire(b), Release(b)} }
	for name, run := range map[string]func(task *Task, count *int){
		"Rounds": func(task *Task, count *int) {
			task.Do(func(task *Task) error {
				for range task.Rounds(2) {
					*count++
				}
				return nil
			})
		},
		"Each": func(task *Task, count *int) { task.Each(2, func(int) error { *count++; return nil }) },
	} {
		rt, task, a, b := twoOfTask(t)
		count := 0
		run(task, &count)
		task.Sequence(all(a, b)...)
		if err := rt.Run(t.Context()); err != nil || count != 2 {
			t.Errorf("%s: %d rounds, %v", name, count, err)
		}
		rt, task, a, b = twoOfTask(t)
		count = 0
		run(task, &count)
		task.Sequence(apart(a, b)...)
		want := fmt.Sprintf(`wrong sequence: %s of task "t" acquires all accesses at once`, name)
		if err := rt.Run(t.Context()); !errors.Is(err, errSequence) || !strings.Contains(err.Error(), want) || count != 0 {
			t.Errorf("%s: %d rounds, %v", name, count, err)
		}
		checkIdle(t, rt)
	}
}

// The system of a runtime has its sequences.
func TestSystemHasSequences(t *testing.T) {
	rt, task, a, b := twoOfTask(t)
	task.Sequence(Acquire(b), Release(b), Acquire(a), Release(a))
	want := "task t: write a, read b: acquire 2, release 2, acquire 1, release 1\n"
	if got := rt.System().String(); got != want || !slices.Equal(rt.tasks[0].accesses, []*Access{a, b}) {
		t.Errorf("%s, want %s", got, want)
	}
}
