package orwl

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/resource"
)

// bodyFailures are the ways in which the body of a task fails.
var bodyFailures = map[string]func() error{
	"error":  func() error { return errPlanned },
	"panic":  func() error { panic(errPlanned) },
	"Goexit": func() error { runtime.Goexit(); return nil },
}

// prior returns the bytes that the next holder of r finds, and what Prior tells it.
func prior(t *testing.T, r *resource.Resource) (value uint64, told error) {
	t.Helper()
	var h handle.Handle
	if err := errors.Join(h.Request(r, queue.Read), h.Acquire(context.Background())); err != nil {
		t.Fatal(err)
	}
	defer h.Release()
	v, err := handle.Read[uint64](&h)
	if err != nil {
		t.Fatal(err)
	}
	return v.At(0), h.Prior()
}

// A task that fails while it writes commits nothing of that round. The next holders learn why. A resource that it only
// read is as usual.
func TestFailedTaskCommitsNothing(t *testing.T) {
	for name, fail := range bodyFailures {
		t.Run(name, func(t *testing.T) {
			rt := mustNew(t, Options{})
			written, read := rt.Resource("written", 8), rt.Resource("read", 8)
			task := rt.Task("a")
			w, r := task.Write(written), task.Read(read)
			task.Each(3, func(i int) error {
				Read[uint64](r)
				Write[uint64](w)[0] = uint64(i + 1)
				if i == 0 {
					return nil
				}
				return fail()
			})
			err := rt.Run(context.Background())
			var failed *taskError
			if !errors.As(err, &failed) || failed.Task != "a" {
				t.Fatalf("the run ended with %v", err)
			}
			if _, told := prior(t, written); !errors.Is(told, queue.ErrPoisoned) || !errors.Is(told, failed.Err) {
				t.Errorf("written: told %v", told)
			}
			if _, told := prior(t, read); told != nil {
				t.Errorf("read: told %v", told)
			}
			checkIdle(t, rt)
		})
	}
}

// A task on another node than the home has written in a copy: the last commit stays.
func TestFailedTaskOnAnotherNode(t *testing.T) {
	each(crew(t, 2), func(i int, n *Nodes) {
		rt := mustNew(t, Options{Nodes: n})
		r := rt.Resource("r", 8)
		rt.Home(r, 0)
		task := rt.Task("a").On(1)
		w := task.Write(r)
		task.Each(2, func(i int) error {
			Write[uint64](w)[0] = uint64(i + 1)
			if i == 1 {
				return errPlanned
			}
			return nil
		})
		if err := rt.Run(context.Background()); err == nil {
			t.Errorf("the run of node %d ended well", i)
		}
		if i == 0 {
			if value, told := prior(t, r); value != 1 || told != nil {
				t.Errorf("the home has %d and tells %v, want the last committed write, and nothing of another one", value, told)
			}
		}
		if err := n.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// A task that fails ends the run before it abandons anything. So no effect of that on others hides the first error.
func TestFailureIsToldBeforeItsEffects(t *testing.T) {
	w := &releaseWatch{}
	rt := mustNew(t, Options{Observers: []Observer{w}})
	r := rt.Resource("r", 8)
	for i := range 3 {
		task := rt.Task(fmt.Sprint(i))
		a := task.Write(r)
		task.Each(-1, func(round int) error {
			Write[uint64](a)[0]++
			if round == 2 && i == 0 {
				return errPlanned
			}
			return nil
		})
	}
	err := rt.Run(context.Background())
	var failed *taskError
	if !errors.As(err, &failed) || failed.Task != "0" || failed.Err != errPlanned {
		t.Errorf("the run ended with %v", err)
	}
	if w.last == nil {
		t.Error("the failed access was not released, or before the run ended")
	}
}

// releaseWatch notes the state of the run at the last release of the first task.
type releaseWatch struct {
	task *Task
	last error
}

func (w *releaseWatch) Observe(e Event) {
	if e.Kind == Declared && e.Task.Name() == "0" {
		w.task = e.Task
		e.Access.Place().Observe((*lastRelease)(w), queue.Released)
	}
}

// lastRelease hears of the releases.
type lastRelease releaseWatch

func (w *lastRelease) Observe(queue.Event) { w.last = w.task.run.ctx.Err() }

// A run has failed a moment before its context ends: its reason is waited for.
func TestFailureHasAReason(t *testing.T) {
	ctx, end := context.WithCancelCause(t.Context())
	r := &run{ctx: ctx, end: end}
	if why := r.why(); why != nil {
		t.Errorf("a run that goes on has failed by %v", why)
	}
	r.failed.Store(true)
	go end(errPlanned)
	if why := r.why(); !errors.Is(why, errPlanned) {
		t.Errorf("it has failed by %v, want %v", why, errPlanned)
	}
}
