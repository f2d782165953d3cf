package lockers_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/lockers"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

//lint:file-ignore SA2001 that a lock can be had and let go is what is tested

// A context that has ended is an error for every lock while it is free, and leaves
// nothing behind.
func TestLockContextEnded(t *testing.T) {
	over, end := context.WithCancel(context.Background())
	end()
	eachLock(t, anyKind, func(t *testing.T, name, machine string) {
		k := newLocker(t, name, machine)
		for range 3 {
			if err := k.LockContext(over); !errors.Is(err, context.Canceled) {
				t.Fatalf("locked under a context that has ended: %v", err)
			}
		}
		if err := k.LockContext(context.Background()); err != nil {
			t.Fatal(err)
		}
		k.Unlock()
	})
	eachLock(t, withReaders, func(t *testing.T, name, machine string) {
		k := newRWLocker(t, name, machine)
		for range 3 {
			if err := k.RLockContext(over); !errors.Is(err, context.Canceled) {
				t.Fatalf("locked under a context that has ended: %v", err)
			}
		}
		if err := k.RLockContext(context.Background()); err != nil {
			t.Fatal(err)
		}
		k.RUnlock()
		k.Lock()
		k.Unlock()
	})
}

// A goroutine that waits for a rank goes when its context ends, and the others keep their order.
func TestLockContextWaitsForRank(t *testing.T) { synctest.Test(t, testLockContextWaitsForRank) }

func testLockContextWaitsForRank(t *testing.T) {
	k := newRWLocker(t, "RMA-RW", "core:1")
	k.Lock()
	var order []int
	var all sync.WaitGroup
	var ends [goroutines]context.CancelFunc
	for g := range goroutines {
		ctx, end := context.WithCancel(context.Background())
		ends[g] = end
		lock, unlock := k.LockContext, k.Unlock
		if g%4 < 2 {
			lock, unlock = k.RLockContext, k.RUnlock
		}
		all.Go(func() {
			err := lock(ctx)
			if gone := g%2 == 0; gone != errors.Is(err, context.Canceled) {
				t.Errorf("goroutine %d: %v", g, err)
			}
			if err == nil {
				order = append(order, g)
				unlock()
			}
		})
		synctest.Wait()
	}
	for g := 0; g < goroutines; g += 2 {
		ends[g]()
	}
	synctest.Wait()
	if k.Waiting() != goroutines/2 {
		t.Errorf("%d wait", k.Waiting())
	}
	k.Unlock()
	all.Wait()
	for _, end := range ends {
		end()
	}
	for i, g := range order {
		if len(order) != goroutines/2 || g != 2*i+1 {
			t.Fatalf("served in the order %v", order)
		}
	}
	if k.Waiting() != 0 || k.Free() != 1 {
		t.Errorf("%d wait for %d free ranks", k.Waiting(), k.Free())
	}
}

// Contexts end while ranks are given out: no rank gets lost, and none is used twice.
func TestLockContextRace(t *testing.T) {
	eachLock(t, anyKind, func(t *testing.T, name, machine string) {
		k := newLocker(t, name, machine)
		contextRace(t, k, machine, nil)
	})
	eachLock(t, withReaders, func(t *testing.T, name, machine string) {
		k := newRWLocker(t, name, machine)
		contextRace(t, &k.Locker, machine, k)
	})
}

// contextRace locks k, and now and then reads.
func contextRace(t *testing.T, k *lockers.Locker, machine string, reads *lockers.RWLocker) {
	count := 0
	var locked atomic.Int64
	crowd(func(g int) {
		for i := range lockerTurns.N() {
			ctx, end := context.WithCancel(context.Background())
			if i%2 == 0 {
				go end()
			}
			if reads != nil && (g+i)%3 == 0 {
				if reads.RLockContext(ctx) == nil {
					reads.RUnlock()
				}
			} else if k.LockContext(ctx) == nil {
				count++
				locked.Add(1)
				k.Unlock()
			}
			end()
		}
	})
	if int64(count) != locked.Load() {
		t.Errorf("counted %d, want %d", count, locked.Load())
	}
	tree, err := topology.Parse(machine)
	if err != nil {
		t.Fatal(err)
	}
	if k.Free() != tree.Ranks() || k.Waiting() != 0 {
		t.Errorf("%d of %d ranks are free, and %d wait", k.Free(), tree.Ranks(), k.Waiting())
	}
	k.Lock()
	k.Unlock()
}

// A lock that aborts gives up at once, whatever holds it up, and is none the worse.
func TestLockContextAborts(t *testing.T) {
	eachLock(t, anyKind, func(t *testing.T, name, machine string) {
		k := newLocker(t, name, machine)
		spec, _ := locks.ByName(name)
		if k.Free() < 2 || spec.Aborts != locks.Always {
			return
		}
		k.Lock()
		ctx, end := context.WithCancel(context.Background())
		done := make(chan error)
		go func() { done <- k.LockContext(ctx) }()
		untilInside(k.Inside, 2)
		end()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("an acquire that aborts: %v", err)
		}
		k.Unlock()
		k.Lock()
		k.Unlock()
	})
}

// LockContext tells what Lock panics with.
func TestLockContextBroken(t *testing.T) {
	l, f := onMem(t, "RMA-RW", "core:2", locks.Options{})
	k, err := lockers.NewRW(l, f)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	for _, lock := range []func(context.Context) error{k.LockContext, k.RLockContext} {
		if err := lock(context.Background()); !errors.Is(err, locks.ErrBroken) || !errors.Is(err, rma.ErrClosed) {
			t.Errorf("a broken lock: %v", err)
		}
	}
	if k.Free() != 2 {
		t.Errorf("%d of 2 ranks are free", k.Free())
	}
}
