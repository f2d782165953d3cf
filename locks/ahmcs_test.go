package locks_test

import (
	"context"
	"testing"

	"github.com/orwl/go-orwl/locks"
)

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
