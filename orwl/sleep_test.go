package orwl

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/orwl/go-orwl/internal/queue"
)

// In these tests a task without a wake-up is a deadlock of the bubble.

// The end of a run wakes all waiting tasks, however long others hold the resource.
func TestSleepersAreWoken(t *testing.T) {
	for name, acquire := range map[string]func(t *Task, a *Access) error{
		"in a round": func(t *Task, _ *Access) error {
			for range t.Rounds(1) {
				panic("a round")
			}
			return nil
		},
		"by hand": func(t *Task, a *Access) error { return a.Acquire(t.Context()) },
		"with a context of its own": func(t *Task, a *Access) error {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			return a.Acquire(ctx)
		},
		"after the end without its context": func(t *Task, a *Access) error {
			if err := a.Acquire(t.Context()); !errors.Is(err, context.Canceled) {
				return err
			}
			return a.Acquire(context.Background())
		},
		"after another context": func(t *Task, a *Access) error {
			impatient, cancel := context.WithTimeout(t.Context(), 1) // of the bubble
			defer cancel()
			if err := a.Acquire(impatient); !errors.Is(err, context.DeadlineExceeded) {
				return err
			}
			return a.Acquire(t.Context())
		},
		"after sleeping for another": func(t *Task, a *Access) error {
			second := t.accesses[1]
			if err := second.Acquire(t.Context()); err != nil {
				return err
			}
			return a.Acquire(t.Context())
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rt := mustNew(t, Options{Stall: -1})
				r, other := rt.Resource("r", 0), rt.Resource("other", 0)
				holds, waits := rt.Task("holds"), rt.Task("waits")
				held, late := holds.Write(r), holds.Write(other)
				a := waits.Write(r)
				waits.Write(other)
				goOn, woken := make(chan struct{}), make(chan error, 1)
				holds.Do(func(t *Task) error {
					if err := byOne(t.Accesses()).Acquire(t.Context()); err != nil {
						return err
					}
					<-goOn
					if err := late.Release(); err != nil {
						return err
					}
					if err := <-woken; err == nil {
						return errors.New("acquired what is held")
					}
					return held.Release()
				})
				waits.Do(func(t *Task) error {
					err := acquire(t, a)
					if err == nil {
						err = t.err
					}
					woken <- err
					return err
				})
				ctx, cancel := context.WithCancel(context.Background())
				ran := make(chan error)
				go func() { ran <- rt.Run(ctx) }()
				<-time.After(time.Second) // of the bubble: all that can happen has
				goOn <- struct{}{}
				synctest.Wait()
				cancel()
				if err := <-ran; err != context.Canceled {
					t.Error(err)
				}
				checkIdle(t, rt)
			})
		})
	}
}

// lapsing is a context that ends between two looks at it.
type lapsing struct {
	context.Context
	looks int
}

func (l *lapsing) Err() error {
	if l.looks--; l.looks >= 0 {
		return nil
	}
	return context.Canceled
}

func (l *lapsing) Done() <-chan struct{} { return make(chan struct{}) }

// A grant at the end of the run is not held.
func TestGrantedAtTheEnd(t *testing.T) {
	rt := mustNew(t, Options{})
	task := rt.Task("a")
	a := task.Write(rt.Resource("r", 0))
	task.Do(nothing)
	r := &run{ctx: context.Background()}
	if err := rt.start(r); err != nil {
		t.Fatal(err)
	}
	task.gather()
	r.ctx = &lapsing{context.Background(), 1}
	if err := a.Acquire(context.Background()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	r.planned.give()
	checkIdle(t, rt)
}

// A place that gave up has another waiter afterwards, which the end of a context
// wakes, too, be it the one that it slept with before or another.
func TestAnotherWaiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := queue.New("r", 0)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		var ahead, waits queue.Place
		must := func(err error) {
			if err != nil {
				t.Error(err)
			}
		}
		hold := func() {
			must(ahead.Request(r, queue.Write))
			must(ahead.Acquire(context.Background()))
			must(waits.Request(r, queue.Write))
		}
		acquired := make(chan error)
		hold()
		go func() { acquired <- waits.Acquire(ctx) }()
		synctest.Wait()
		must(ahead.Release())
		must(<-acquired)
		must(waits.Release())

		hold()
		impatient, stop := context.WithTimeout(ctx, time.Second) // of the bubble
		defer stop()
		if err := waits.Acquire(impatient); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		must(waits.Cancel())
		must(waits.Request(r, queue.Write))
		go func() { acquired <- waits.Acquire(ctx) }()
		synctest.Wait()
		cancel()
		if err := <-acquired; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		must(waits.Cancel())
		must(ahead.Release())
	})
}
