package locks_test

import (
	"context"
	"errors"
	"flag"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

//lint:file-ignore SA2001 that a lock can be had and let go is what is tested

// onMem makes a lock on a new fabric of goroutines.
func onMem(t testing.TB, name, machine string, o locks.Options) (*locks.Lock, *mem.Fabric) {
	t.Helper()
	spec, ok := locks.ByName(name)
	if !ok {
		t.Fatalf("there is no lock %s", name)
	}
	tree, err := topology.Parse(machine)
	if err != nil {
		t.Fatal(err)
	}
	f, err := mem.New(mem.Options{Topology: tree})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	l, err := spec.New(f, o)
	if err != nil {
		t.Fatal(err)
	}
	return l, f
}

func newLocker(t testing.TB, name, machine string) *locks.Locker {
	t.Helper()
	l, f := onMem(t, name, machine, locks.Options{})
	k, err := locks.NewLocker(l, f)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func newRWLocker(t testing.TB, name, machine string) *locks.RWLocker {
	t.Helper()
	l, f := onMem(t, name, machine, locks.Options{})
	k, err := locks.NewRWLocker(l, f)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// eachLock is a test for every lock of the table, with as many ranks as there
// are goroutines, and with fewer.
func eachLock(t *testing.T, kind func(locks.Kind) bool, test func(t *testing.T, name, machine string)) {
	for _, spec := range locks.All() {
		if !kind(spec.Kind) {
			continue
		}
		for _, machine := range []string{"core:1", "core:3", "node:2 core:2", "node:2 core:4"} {
			t.Run(spec.Name+"/"+machine, func(t *testing.T) {
				t.Parallel()
				test(t, spec.Name, machine)
			})
		}
	}
}

func anyKind(locks.Kind) bool       { return true }
func withReaders(k locks.Kind) bool { return k == locks.ReaderWriter }

const goroutines = 8

// A Locker that takes a rank without a CAS falls with 5,000 turns and no race
// detector, one that gives a reader's rank back so with 100,000.
var lockerTurns = flag.Int("locker.turns", 200, "how often each goroutine locks in a test of Locker")

// crowd runs goroutines and waits for them.
func crowd(body func(g int)) {
	var all sync.WaitGroup
	for g := range goroutines {
		all.Go(func() { body(g) })
	}
	all.Wait()
}

func TestLockerExcludes(t *testing.T) {
	eachLock(t, anyKind, func(t *testing.T, name, machine string) {
		k := newLocker(t, name, machine)
		count := 0 // the race detector looks on
		crowd(func(g int) {
			for i := range *lockerTurns {
				if i%4 == 3 && k.TryLock() {
					count++
					k.Unlock()
					continue
				}
				k.Lock()
				count++
				k.Unlock()
			}
		})
		if count != goroutines*(*lockerTurns) {
			t.Errorf("counted %d, want %d", count, goroutines*(*lockerTurns))
		}
	})
}

func TestRWLockerExcludes(t *testing.T) {
	eachLock(t, withReaders, func(t *testing.T, name, machine string) {
		k := newRWLocker(t, name, machine)
		r := k.RLocker()
		a, b := 0, 0
		crowd(func(g int) {
			for i := range *lockerTurns {
				switch (i + g) % 4 {
				case 0:
					k.Lock()
					a++
					b++
					k.Unlock()
				case 1:
					if k.TryRLock() {
						if a != b {
							t.Errorf("a reader finds %d and %d", a, b)
						}
						k.RUnlock()
					}
				default:
					r.Lock()
					if a != b {
						t.Errorf("a reader finds %d and %d", a, b)
					}
					r.Unlock()
				}
			}
		})
		if want := goroutines * *lockerTurns / 4; a != want || b != want {
			t.Errorf("counted %d and %d, want %d", a, b, want)
		}
	})
}

// All ranks read at once: each goroutine waits inside for the others.
func TestRWLockerReadersShare(t *testing.T) {
	eachLock(t, withReaders, func(t *testing.T, name, machine string) {
		k := newRWLocker(t, name, machine)
		tree, err := topology.Parse(machine)
		if err != nil {
			t.Fatal(err)
		}
		var inside, all sync.WaitGroup
		inside.Add(tree.Ranks())
		for range tree.Ranks() {
			all.Go(func() {
				k.RLock()
				inside.Done()
				inside.Wait()
				k.RUnlock()
			})
		}
		all.Wait()
	})
}

// Readers for whom there are too few ranks are invited beside each other, too: each
// meets another one inside.
func TestRWLockerInvitesReaders(t *testing.T) {
	k := newRWLocker(t, "RMA-RW", "core:2")
	k.Lock()
	meet := make(chan struct{})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			k.RLock()
			select {
			case meet <- struct{}{}:
			case <-meet:
			}
			k.RUnlock()
		})
	}
	for k.Waiting() != 3 { // one has the other rank
		runtime.Gosched()
	}
	k.Unlock()
	all.Wait()
}

// A lock is handed to another goroutine, which unlocks it.
func TestLockerUnlockElsewhere(t *testing.T) {
	eachLock(t, anyKind, func(t *testing.T, name, machine string) {
		k := newLocker(t, name, machine)
		count := 0
		locked := make(chan int)
		var unlocks sync.WaitGroup
		for range goroutines {
			unlocks.Go(func() {
				for range locked {
					count++
					k.Unlock()
				}
			})
		}
		crowd(func(g int) {
			for i := range *lockerTurns {
				k.Lock()
				locked <- i
			}
		})
		close(locked)
		unlocks.Wait()
		if count != goroutines*(*lockerTurns) {
			t.Errorf("counted %d, want %d", count, goroutines*(*lockerTurns))
		}
	})
}

// Readers leave by whichever goroutine comes, while others come and go, and
// writers find nobody inside.
func TestRWLockerRUnlockElsewhere(t *testing.T) {
	eachLock(t, withReaders, func(t *testing.T, name, machine string) {
		k := newRWLocker(t, name, machine)
		var inside atomic.Int32
		locked := make(chan int)
		var unlocks sync.WaitGroup
		for range goroutines {
			unlocks.Go(func() {
				for range locked {
					inside.Add(-1)
					k.RUnlock()
				}
			})
		}
		crowd(func(g int) {
			for i := range *lockerTurns {
				if i%16 == 0 {
					k.Lock()
					if n := inside.Load(); n != 0 {
						t.Errorf("a writer is beside %d readers", n)
					}
					k.Unlock()
					continue
				}
				k.RLock()
				inside.Add(1)
				if i%2 == 0 {
					locked <- i
				} else {
					inside.Add(-1)
					k.RUnlock()
				}
			}
		})
		close(locked)
		unlocks.Wait()
		k.Lock()
		k.Unlock()
	})
}

// Who finds no free rank gets one in the order of coming.
func TestLockerQueueIsFIFO(t *testing.T) { synctest.Test(t, testLockerQueueIsFIFO) }

func testLockerQueueIsFIFO(t *testing.T) {
	k := newLocker(t, "TAS", "core:1")
	k.Lock()
	var order []int
	for g := range goroutines {
		go func() {
			k.Lock()
			order = append(order, g)
			k.Unlock()
		}()
		synctest.Wait()
	}
	k.Unlock()
	synctest.Wait()
	for g := range goroutines {
		if len(order) != goroutines || order[g] != g {
			t.Fatalf("served in the order %v", order)
		}
	}
}

// While more goroutines wait than there are free ranks, these stay free, also for
// somebody who comes now.
func TestLockerInvites(t *testing.T) {
	k := newLocker(t, "MCS", "core:3")
	until := func(free, waiting int) {
		for k.Free() != free || k.Waiting() != waiting {
			runtime.Gosched()
		}
	}
	in, leave := make(chan int), make(chan int)
	var all sync.WaitGroup
	comes := func(free, waiting int) {
		all.Go(func() {
			k.Lock()
			in <- 0
			<-leave
			k.Unlock()
		})
		until(free, waiting)
	}
	for g := range 3 {
		comes(2-g, 0)
	}
	for g := range 4 {
		comes(0, g+1)
	}
	for turn, now := range []struct{ free, waiting int }{
		{0, 4}, // two wait for the lock
		{1, 4},
		{2, 4},
		{2, 3}, // one is invited
		{2, 3}, // and another one, after somebody has come
		{0, 0}, // and another one, and there are ranks for the others
		{1, 0},
		{2, 0},
	} {
		<-in
		until(now.free, now.waiting)
		if turn == 3 {
			comes(2, 4)
		}
		leave <- 0
	}
	all.Wait()
	until(3, 0)
}

// A process that shares a fabric with others uses its own ranks.
func TestLockerSomeRanks(t *testing.T) {
	l, f := onMem(t, "MCS", "core:4", locks.Options{})
	var lockers [2]*locks.Locker
	for i, ranks := range [][]locks.Rank{{0, 1}, {2, 3}} {
		var err error
		if lockers[i], err = locks.NewLocker(l, f, ranks...); err != nil {
			t.Fatal(err)
		}
	}
	count := 0
	crowd(func(g int) {
		for range *lockerTurns {
			lockers[g%2].Lock()
			count++
			lockers[g%2].Unlock()
		}
	})
	if count != goroutines*(*lockerTurns) {
		t.Errorf("counted %d, want %d", count, goroutines*(*lockerTurns))
	}
	var refused *rma.RankError
	if _, err := locks.NewLocker(l, f, 4); !errors.As(err, &refused) {
		t.Errorf("a locker by rank 4 of 4: %v, want a RankError", err)
	}
}

func TestLockerTry(t *testing.T) {
	k := newRWLocker(t, "RMA-RW", "core:4")
	want := func(what string, got, want bool) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %t, want %t", what, got, want)
		}
	}
	want("TryLock", k.TryLock(), true)
	want("TryLock beside a writer", k.TryLock(), false)
	want("TryRLock beside a writer", k.TryRLock(), false)
	k.Unlock()
	want("TryRLock", k.TryRLock(), true)
	want("TryRLock beside a reader", k.TryRLock(), true)
	want("TryLock beside readers", k.TryLock(), false)
	k.RUnlock()
	k.RUnlock()
	for range 4 {
		want("TryRLock", k.TryRLock(), true)
	}
	want("TryRLock without a free rank", k.TryRLock(), false)
	for range 4 {
		k.RUnlock()
	}
	want("TryLock in the end", k.TryLock(), true)
	k.Unlock()
}

// recovered is what a call panics with.
func recovered(call func()) (value any) {
	defer func() { value = recover() }()
	call()
	return nil
}

func TestLockerMisuse(t *testing.T) {
	misuse := func(what string, call func()) {
		t.Helper()
		if _, ok := recovered(call).(*locks.MisuseError); !ok {
			t.Errorf("%s: no *MisuseError, as a panic", what)
		}
	}
	for _, name := range []string{"MCS", "RMA-RW"} {
		k := newLocker(t, name, "core:2")
		misuse(name+": Unlock at first", k.Unlock)
		k.Lock()
		k.Unlock()
		misuse(name+": a second Unlock", k.Unlock)
		k.Lock() // it is none the worse for it
		k.Unlock()
	}
	k := newRWLocker(t, "RMA-RW", "core:2")
	misuse("RUnlock at first", k.RUnlock)
	k.Lock()
	misuse("RUnlock of a writer's", k.RUnlock)
	k.Unlock()
	k.RLock()
	misuse("Unlock of a reader's", k.Unlock)
	k.RUnlock()
	misuse("a second RUnlock", k.RUnlock)
	misuse("a second RUnlock by an RLocker", k.RLocker().Unlock)
	k.Lock()
	k.Unlock()

	l, f := onMem(t, "MCS", "core:2", locks.Options{})
	if _, err := locks.NewRWLocker(l, f); err == nil {
		t.Error("a lock without readers becomes an RWLocker")
	}
}

// Lock says that the lock is broken, also to those who wait for a rank or for
// the lock, and unlocking does nothing.
func TestLockerBroken(t *testing.T) {
	for _, name := range []string{"MCS", "D-MCS", "RMA-RW"} {
		l, f := onMem(t, name, "core:2", locks.Options{})
		k, err := locks.NewLocker(l, f)
		if err != nil {
			t.Fatal(err)
		}
		k.Lock()
		var all sync.WaitGroup
		var broken atomic.Int32
		for range goroutines {
			all.Go(func() {
				err, _ := recovered(k.Lock).(error)
				if errors.Is(err, locks.ErrBroken) && errors.Is(err, rma.ErrClosed) {
					broken.Add(1)
				}
			})
		}
		for k.Waiting() != goroutines-1 { // one has the other rank
			runtime.Gosched()
		}
		f.Close()
		k.Unlock()
		all.Wait()
		if broken.Load() != goroutines {
			t.Errorf("%s: %d of %d goroutines hear that it is broken", name, broken.Load(), goroutines)
		}
		if k.TryLock() {
			t.Errorf("%s: a broken lock can be had", name)
		}
	}
}

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

// Who waits for a rank goes when its context ends, and the others keep their order.
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
func contextRace(t *testing.T, k *locks.Locker, machine string, reads *locks.RWLocker) {
	count := 0
	var locked atomic.Int64
	crowd(func(g int) {
		for i := range *lockerTurns {
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
		free := k.Free()
		done := make(chan error)
		go func() { done <- k.LockContext(ctx) }()
		for k.Free() == free {
			runtime.Gosched()
		}
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
	k, err := locks.NewRWLocker(l, f)
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
