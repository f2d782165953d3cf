package lockers_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/lockers"
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

func newLocker(t testing.TB, name, machine string) *lockers.Locker {
	t.Helper()
	l, f := onMem(t, name, machine, locks.Options{})
	k, err := lockers.New(l, f)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func newRWLocker(t testing.TB, name, machine string) *lockers.RWLocker {
	t.Helper()
	l, f := onMem(t, name, machine, locks.Options{})
	k, err := lockers.NewRW(l, f)
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
		for _, machine := range []string{"core:1", "node:2 core:2", "core:3", "node:2 core:4"}[:rings.Of(2, 4, 4)] {
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
var lockerTurns = rings.Size("locker.turns", 80, 200, 5000, "how often each goroutine locks in a test of Locker")

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
			for i := range lockerTurns.N() {
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
		if count != goroutines*lockerTurns.N() {
			t.Errorf("counted %d, want %d", count, goroutines*lockerTurns.N())
		}
	})
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
			for i := range lockerTurns.N() {
				k.Lock()
				locked <- i
			}
		})
		close(locked)
		unlocks.Wait()
		if count != goroutines*lockerTurns.N() {
			t.Errorf("counted %d, want %d", count, goroutines*lockerTurns.N())
		}
	})
}

// Goroutines that find no free rank get one in the order in which they came.
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

// A process that shares a fabric with others uses its own ranks.
func TestLockerSomeRanks(t *testing.T) {
	l, f := onMem(t, "MCS", "core:4", locks.Options{})
	var both [2]*lockers.Locker
	for i, ranks := range [][]locks.Rank{{0, 1}, {2, 3}} {
		var err error
		if both[i], err = lockers.New(l, f, ranks...); err != nil {
			t.Fatal(err)
		}
	}
	count := 0
	crowd(func(g int) {
		for range lockerTurns.N() {
			both[g%2].Lock()
			count++
			both[g%2].Unlock()
		}
	})
	if count != goroutines*lockerTurns.N() {
		t.Errorf("counted %d, want %d", count, goroutines*lockerTurns.N())
	}
	var refused *rma.RankError
	if _, err := lockers.New(l, f, 4); !errors.As(err, &refused) {
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
	for range 20 { // more than there are ranks
		want("TryRLock", k.TryRLock(), true)
	}
	for range 20 {
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
	if _, err := lockers.NewRW(l, f); err == nil {
		t.Error("a lock without readers becomes an RWLocker")
	}
}

// Lock says that the lock is broken, also to goroutines that wait for a rank or for
// the lock, and unlocking does nothing.
func TestLockerBroken(t *testing.T) {
	for _, name := range []string{"MCS", "D-MCS", "RMA-RW"} {
		l, f := onMem(t, name, "core:2", locks.Options{})
		k, err := lockers.New(l, f)
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
		untilInside(k.Inside, goroutines+1)
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
