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

// A rank of AHMCS enters one level above if it finds no rank where it enters and leaves none,
// and one level below if it finds one and leaves one. The short cut changes no level. The
// level shows in what happens to a neighbour that comes behind: the rank passes the lock on
// to it only if both are in the queue of their element.
func TestAHMCSAdapts(t *testing.T) {
	ctx := context.Background()
	for _, way := range []way{byOperations, direct} {
		v := newVisitors(t, "AHMCS", "node:2 core:4", locks.Options{Operations: way == byOperations})
		here, stranger := v.m[1], v.m[4]
		// comes lets the rank have the lock after a stranger, and before a neighbour if it
		// has one, and returns how often the rank passed it on.
		comes := func(neighbour locks.Mutex) uint64 {
			before := v.counts().Passed
			must(stranger.Acquire(ctx))
			has := acquireAsync(here)
			awaitWaiter(stranger)
			stranger.Release()
			wait(t, has)
			if neighbour == nil {
				here.Release()
				return v.counts().Passed - before
			}
			has = acquireAsync(neighbour)
			awaitWaiter(here)
			here.Release()
			wait(t, has)
			neighbour.Release()
			return v.counts().Passed - before
		}
		for range 3 {
			must(here.Acquire(ctx))
			here.Release()
		}
		if n := comes(v.m[2]); n != 1 {
			t.Errorf("%s: after short cuts the rank passes the lock on %d times, want once: it enters at the finest level", way, n)
		}
		comes(nil)
		if n := comes(v.m[2]); n != 0 {
			t.Errorf("%s: after a turn without contention the rank passes the lock on %d times, want never: it enters at the root", way, n)
		}
		if n := comes(v.m[3]); n != 1 {
			t.Errorf("%s: after a turn with contention the rank passes the lock on %d times, want once: it enters at the finest level", way, n)
		}
	}
}
