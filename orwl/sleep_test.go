package orwl

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/orwl/go-orwl/internal/queue"
)

// In these tests a task without a wake-up is a deadlock of the bubble.

// The end of a run wakes the workers that wait, however long a body takes.
func TestSleepersAreWoken(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3)) // so many workers
	synctest.Test(t, func(t *testing.T) {
		rt := mustNew(t, Options{Stall: -1})
		r, goOn, rounds := rt.Resource("r", 0), make(chan struct{}), 0
		for i, name := range []string{"holds", "waits", "waits, too"} {
			task := rt.Task(name)
			task.Write(r)
			task.Each(2, func(int) error {
				if rounds++; i == 0 {
					<-goOn
				}
				return nil
			})
		}
		alone := rt.Task("alone") // so that the others are no circle, which has one worker
		alone.Write(rt.Resource("other", 0))
		alone.Each(1, func(int) error { return nil })
		ctx, cancel := context.WithCancel(context.Background())
		ran := make(chan error)
		go func() { ran <- rt.Run(ctx) }()
		synctest.Wait()
		cancel()
		synctest.Wait()
		close(goOn)
		if err := <-ran; err != context.Canceled || rounds != 1 {
			t.Errorf("%v after %d rounds", err, rounds)
		}
		checkIdle(t, rt)
	})
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
