package locks_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/orwl/go-orwl/locks"
)

// These tests run the path of HMCS in memory on which a rank goes alone by direct access,
// and then meets another rank.

// A rank that has gone alone begins to count the turns in a row again.
func TestHMCSCountsFromAlone(t *testing.T) {
	m := fresh(t, "HMCS", "node:2 core:2", locks.Options{TL: []int{1, 2}})
	here, neighbour, holder := m[0], m[1], m[2]
	must(holder.Acquire(context.Background()))
	first := acquireAsync(neighbour)
	awaitWaiter(holder)
	holder.Release()
	wait(t, first)
	has := acquireAsync(here)
	awaitWaiter(neighbour)
	neighbour.Release()
	wait(t, has) // the second turn in a row
	here.Release()
	for range 2 {
		must(here.Acquire(context.Background()))
		here.Release()
	}
	must(here.Acquire(context.Background()))
	has = acquireAsync(neighbour)
	awaitWaiter(here)
	here.Release()
	wait(t, has)
	neighbour.Release()
	want := locks.Counts{Acquired: 4, Waited: 1, Upper: 3, Passed: 1}
	if got := here.(locks.Counter).Counts(); got != want {
		t.Errorf("counted %+v, want %+v", got, want)
	}
}

// A neighbour gives up at the root, where it waits for the whole node. Then a rank comes
// that has gone alone before. It takes the neighbour's place in the queue of the root.
func TestHMCSNeighbourGaveUp(t *testing.T) {
	m := fresh(t, "HMCS", "node:2 core:2", locks.Options{})
	here, neighbour, holder := m[0], m[1], m[2]
	for range 2 {
		must(here.Acquire(context.Background()))
		here.Release()
	}
	must(holder.Acquire(context.Background()))
	ctx, end := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() { gone <- neighbour.Acquire(ctx) }()
	awaitWaiter(holder)
	end()
	if err := <-gone; err == nil {
		t.Fatal("two are inside")
	}
	has := acquireAsync(here)
	select {
	case <-has:
		t.Fatal("two are inside")
	case <-time.After(20 * time.Millisecond):
	}
	holder.Release()
	wait(t, has)
	here.Release()
	for _, m := range m {
		wait(t, acquireAsync(m))
		m.Release()
	}
}

// acquireAsync acquires a lock in another goroutine. It closes the channel when the rank has
// the lock.
func acquireAsync(m locks.Mutex) <-chan struct{} {
	has := make(chan struct{})
	go func() {
		must(m.Acquire(context.Background()))
		close(has)
	}()
	return has
}

// awaitWaiter returns when the holder knows that another rank waits.
func awaitWaiter(holder locks.Mutex) {
	for holder.(locks.Cohort).Alone() {
		runtime.Gosched()
	}
}

func wait(t *testing.T, has <-chan struct{}) {
	t.Helper()
	select {
	case <-has:
	case <-time.After(time.Minute):
		t.Fatal("the rank does not get the lock")
	}
}
