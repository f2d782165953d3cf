package orwl

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/internal/typed"
)

// crowd is a program with a task that acts in its third round, while all others wait
// for it, or for one another, or work.
func crowd(t testing.TB, body func(t *Task, read, write *Access) error) *Runtime {
	rt := mustNew(t, Options{})
	ring(rt, 8, inSteps(8, 1), func(i int, t *Task, own, next *Access) {
		t.Each(-1, func(round int) error {
			if i == 5 && round == 2 {
				return body(t, next, own)
			}
			return nil
		})
	})
	return rt
}

// However a body fails, all tasks end and Run tells why.
func TestFailures(t *testing.T) {
	boom := errors.New("boom")
	for name, c := range map[string]struct {
		body func(t *Task, read, write *Access) error
		want func(err error) bool
		text string
	}{
		"error": {func(*Task, *Access, *Access) error { return boom },
			func(err error) bool { return errors.Is(err, boom) }, `orwl: task "5": boom`},
		"panic with an error": {func(*Task, *Access, *Access) error { panic(boom) },
			isPanic(boom), `orwl: task "5": panic in round 2 at `},
		"panic with something else": {func(*Task, *Access, *Access) error { panic(7) },
			isPanic(7), `orwl: task "5": panic in round 2 at `},
		"exit": {func(*Task, *Access, *Access) error { runtime.Goexit(); return nil },
			func(err error) bool { return errors.Is(err, errExit) }, `orwl: task "5": orwl: body ended its goroutine`},
		"view of a type with pointers": {func(_ *Task, read, _ *Access) error { Read[*int](read); return nil },
			func(err error) bool { var e *typed.TypeError; return errors.As(err, &e) && !isPanicked(err) }, `orwl: task "5": handle: no view of *int`},
		"type that does not fit": {func(_ *Task, _, write *Access) error { Write[[3]uint64](write); return nil },
			func(err error) bool { var e *typed.LengthError; return errors.As(err, &e) && !isPanicked(err) }, `orwl: task "5": handle: the 8 bytes of "5" are no whole number`},
		"write of a reader": {func(_ *Task, read, _ *Access) error { Write[uint64](read); return nil },
			func(err error) bool { return errors.Is(err, queue.ErrReadOnly) && !isPanicked(err) }, `orwl: task "5": resource: map of "6" (read): held for reading`},
		"broken resource": {func(t *Task, read, _ *Access) error {
			core(read.Resource()).Break(boom)
			return nil
		}, func(err error) bool { return errors.Is(err, queue.ErrBroken) && errors.Is(err, boom) }, `orwl: task "`},
	} {
		t.Run(name, func(t *testing.T) {
			defer goleak.VerifyNone(t)
			rt := crowd(t, c.body)
			err := rt.Run(context.Background())
			var task *taskError
			if !errors.As(err, &task) || !c.want(err) || !strings.HasPrefix(err.Error(), c.text) {
				t.Errorf("%v, want %s...", err, c.text)
			}
			if report := rt.Inspect(); report.Running {
				t.Errorf("still running:\n%v", report)
			}
			if name != "broken resource" {
				checkIdle(t, rt)
			}
		})
	}
}

func isPanicked(err error) bool {
	var p *panicError
	return errors.As(err, &p)
}

// isPanic reports whether an error is a panic with that value, raised in this file.
func isPanic(value any) func(error) bool {
	return func(err error) bool {
		var p *panicError
		is, isError := value.(error)
		return errors.As(err, &p) && p.Value == value && strings.Contains(string(p.Stack), "end_test.go") &&
			(!isError || errors.Is(err, is))
	}
}

// When the context ends, all tasks end, and Run tells why.
func TestContextEnds(t *testing.T) {
	defer goleak.VerifyNone(t)
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	rt := crowd(t, func(t *Task, _, _ *Access) error {
		cancel(why)
		<-t.Context().Done()
		return nil
	})
	if err := rt.Run(ctx); err != why {
		t.Errorf("%v, want %v", err, why)
	}
	checkIdle(t, rt)
}

// A task that never has to wait ends, too.
func TestContextEndsOfWhoNeverWaits(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	rt := mustNew(t, Options{})
	task := rt.Task("a")
	task.Write(rt.Resource("r", 0))
	rounds := 0
	task.Each(-1, func(int) error {
		if rounds++; rounds == 3 {
			cancel()
		}
		return nil
	})
	if err := rt.Run(ctx); err != context.Canceled || rounds != 3 {
		t.Errorf("%v after %d rounds", err, rounds)
	}
	checkIdle(t, rt)
}

// A context that has ended before starts nothing.
func TestContextEndedBefore(t *testing.T) {
	why := errors.New("too late")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(why)
	rt := mustNew(t, Options{})
	rt.Resource("r", 0)
	ran := false
	rt.Task("a").Do(func(*Task) error { ran = true; return nil })
	if err := rt.Run(ctx); err != why || ran {
		t.Errorf("%v, want %v; a task ran: %t", err, why, ran)
	}
	checkIdle(t, rt)
}

// Tasks that end well though the context has ended have ended well.
func TestContextEndsUnheard(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	rt := mustNew(t, Options{})
	rt.Task("a").Do(func(t *Task) error {
		cancel()
		<-t.Context().Done()
		return nil
	})
	if err := rt.Run(ctx); err != nil {
		t.Error(err)
	}
}

// The resources of a failed run can be read. Another program has resources of its own,
// and its accesses can be used by hand after its run.
func TestAfterFailure(t *testing.T) {
	rt := crowd(t, func(_ *Task, _, write *Access) error {
		Write[uint64](write)[0] = 42
		return errPlanned
	})
	if err := rt.Run(context.Background()); !errors.Is(err, errPlanned) {
		t.Fatal(err)
	}
	r := rt.Lookup("5")
	if words, version := content(t, r); words[0] != 42 || version != 1 {
		t.Errorf("%v, version %d", words, version)
	}
	again := mustNew(t, Options{})
	next := again.Resource("5", 8)
	if err := Fill(context.Background(), next, func(w []uint64) { w[0] = 42 }); err != nil {
		t.Fatal(err)
	}
	task := again.Task("a")
	a := task.Write(next)
	task.Each(2, func(int) error {
		Write[uint64](a)[0]++
		return nil
	})
	if err := again.Run(context.Background()); err != nil {
		t.Error(err)
	}
	if v, err := Values[uint64](t.Context(), next); err != nil || v[0] != 44 {
		t.Errorf("%v, %v, want 44", v, err)
	}
}
