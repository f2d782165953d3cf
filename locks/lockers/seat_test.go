package lockers_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/lockers"
	"github.com/orwl/go-orwl/net/mem"
	"github.com/orwl/go-orwl/net/rma"
	"github.com/orwl/go-orwl/net/topology"
)

//lint:file-ignore SA2001 that a lock can be had and let go is what is tested

// A goroutine that comes again and again overtakes those that wait for its rank only so
// often.
func TestLockerOvertaking(t *testing.T) {
	k := newLocker(t, "MCS", "core:1")
	const waiters = 5
	k.Lock()
	var turns atomic.Int64
	var overtaken [waiters]int64
	var all sync.WaitGroup
	for g := range waiters {
		all.Go(func() {
			k.Lock()
			overtaken[g] = turns.Load()
			k.Unlock()
		})
		for k.Waiting() != g+1 {
			runtime.Gosched()
		}
	}
	var over atomic.Bool
	go func() { all.Wait(); over.Store(true) }()
	for !over.Load() {
		k.Unlock()
		k.Lock()
		turns.Add(1)
	}
	k.Unlock()
	for g, n := range overtaken {
		if most := int64(g+1) * lockers.MostOvertaken; n > most {
			t.Errorf("waiter %d was overtaken %d times, want at most %d", g, n, most)
		}
	}
}

// Goroutines come, wait, give up and try, many more than ranks, and none sleeps for ever.
func TestLockerCrowd(t *testing.T) {
	eachLock(t, withReaders, func(t *testing.T, name, machine string) {
		k := newRWLocker(t, name, machine)
		const many = 64
		count, want := 0, atomic.Int64{}
		var all sync.WaitGroup
		for g := range many {
			all.Go(func() {
				for i := range lockerTurns.N() / 4 {
					ctx, end := context.WithCancel(context.Background())
					switch (g + i) % 5 {
					case 0:
						k.RLock()
						runtime.Gosched()
						k.RUnlock()
					case 1:
						if k.TryLock() {
							count++
							want.Add(1)
							k.Unlock()
						}
					case 2:
						go end()
						if k.LockContext(ctx) == nil {
							count++
							want.Add(1)
							runtime.Gosched()
							k.Unlock()
						}
					case 3:
						go end()
						if k.RLockContext(ctx) == nil {
							k.RUnlock()
						}
					default:
						k.Lock()
						count++
						want.Add(1)
						k.Unlock()
					}
					end()
				}
			})
		}
		all.Wait()
		if int64(count) != want.Load() || k.Waiting() != 0 {
			t.Errorf("counted %d, want %d; %d wait", count, want.Load(), k.Waiting())
		}
	})
}

// A processor keeps the lock when its goroutines have gone. Those of another one get it.
func TestRWLockerKeeps(t *testing.T) {
	k := newRWLocker(t, "RMA-RW", "core:4")
	want := func(keepers int) {
		t.Helper()
		if k.Keepers() != keepers {
			t.Fatalf("%d ranks keep the lock, want %d", k.Keepers(), keepers)
		}
	}
	read := func(p int) { k.Move(p, p+1); k.RLock(); k.RUnlock() }
	write := func(p int) { k.Move(p, p+1); k.Lock(); k.Unlock() }
	for p := range 3 {
		read(p)
		want(p + 1)
	}
	write(3)
	want(1) // for writing
	if s := k.Stats(); s.Kept != 0 {
		t.Errorf("%d acquisitions found the lock kept, want 0", s.Kept)
	}
	write(3)
	read(3)
	want(1) // for reading: see TestRWLockerReadersBesideKept
	write(3)
	want(1)
	k.Move(0, 1)
	k.RLock() // revokes it
	want(0)
	k.RUnlock()
	want(0) // it is impatient
	if s := k.Stats(); s.Kept != 1 || s.Acquired != 3+1+3+1 {
		t.Errorf("%d of %d acquisitions found the lock kept, want 1 of 8", s.Kept, s.Acquired)
	}
	for range lockers.MostReaders {
		read(2)
	}
	want(1)
	if !k.TryLock() {
		t.Error("a lock that is kept cannot be had")
	}
	k.Unlock()
	k.Move(1, 2)
	if !k.TryRLock() {
		t.Error("a lock that is kept for writing cannot be had for reading")
	}
	k.RUnlock()
}

// A rank that keeps the lock for writing lets it go before a reader comes in by it. So readers of
// other processors are in at the same time: both may need the other to go on.
func TestRWLockerReadersBesideKept(t *testing.T) {
	for _, name := range []string{"RMA-RW", "RMA-RW-A"} {
		for what, first := range map[string]func(k *lockers.RWLocker) bool{
			"TryRLock": (*lockers.RWLocker).TryRLock,
			"RLock":    func(k *lockers.RWLocker) bool { k.RLock(); return true },
		} {
			k := newRWLocker(t, name, "core:2")
			k.Move(0, 1)
			k.Lock()
			k.Unlock()
			if k.Keepers() != 1 {
				t.Errorf("%s: %d ranks keep the lock, want 1", name, k.Keepers())
			}
			if !first(k) {
				t.Fatalf("%s: no reader gets in behind a writer", name)
			}
			k.Move(1, 2)
			if !k.TryRLock() {
				t.Fatalf("%s: no reader gets in beside one of %s", name, what)
			}
			k.RUnlock()
			k.RUnlock()
		}
	}
}

// A seat that is revoked while goroutines are inside is let go when the last one leaves.
func TestRWLockerRevokedInside(t *testing.T) {
	for _, c := range []struct {
		name           string
		lock, unlock   func(*lockers.RWLocker)
		other, andBack func(*lockers.RWLocker)
	}{
		{"reader, then writer", (*lockers.RWLocker).RLock, (*lockers.RWLocker).RUnlock, lockOf, unlockOf},
		{"writer, then reader", lockOf, unlockOf, (*lockers.RWLocker).RLock, (*lockers.RWLocker).RUnlock},
		{"writer, then writer", lockOf, unlockOf, lockOf, unlockOf},
	} {
		k := newRWLocker(t, "RMA-RW", "core:2")
		k.Move(0, 1)
		c.lock(k)
		c.unlock(k)
		c.lock(k) // by what is kept
		if k.Keepers() != 1 {
			t.Fatalf("%s: nothing is kept", c.name)
		}
		k.Move(1, 2)
		done := make(chan struct{})
		go func() {
			c.other(k)
			c.andBack(k)
			close(done)
		}()
		for k.Keepers() != 0 {
			runtime.Gosched()
		}
		c.unlock(k)
		<-done
	}
}

func lockOf(k *lockers.RWLocker)   { k.Lock() }
func unlockOf(k *lockers.RWLocker) { k.Unlock() }

// A lock that is kept tells that it is broken, and that a context has ended.
func TestRWLockerKeptBroken(t *testing.T) {
	for _, prepare := range []func(k *lockers.RWLocker){
		func(k *lockers.RWLocker) { k.RLock(); k.RUnlock() },
		func(k *lockers.RWLocker) { k.Lock(); k.Unlock() },
	} {
		l, f := onMem(t, "RMA-RW", "core:2", locks.Options{})
		k, err := lockers.NewRW(l, f)
		if err != nil {
			t.Fatal(err)
		}
		k.Move(0, 1)
		prepare(k)
		over, end := context.WithCancel(context.Background())
		end()
		for _, lock := range []func(context.Context) error{k.LockContext, k.RLockContext} {
			if err := lock(over); !errors.Is(err, context.Canceled) {
				t.Errorf("locked under a context that has ended: %v", err)
			}
		}
		prepare(k)
		f.Close()
		for _, lock := range []func(context.Context) error{k.LockContext, k.RLockContext} {
			if err := lock(context.Background()); !errors.Is(err, locks.ErrBroken) || !errors.Is(err, rma.ErrClosed) {
				t.Errorf("a broken lock: %v", err)
			}
		}
		if k.TryLock() || k.TryRLock() {
			t.Error("a broken lock can be had")
		}
	}
}

// More readers than may join a group read at once, on more than one rank.
func TestRWLockerFullGroup(t *testing.T) {
	k := newRWLocker(t, "RMA-RW", "core:3")
	const readers = 2*lockers.MostReaders + 1
	for range readers {
		k.RLock()
	}
	if k.Free() != 0 {
		t.Errorf("%d ranks are free, want 0", k.Free())
	}
	for range readers {
		k.RUnlock()
	}
	k.Lock()
	k.Unlock()
}

// Each processor gets the ranks of its CPU, and others some ranks, too.
func TestLockerPlace(t *testing.T) {
	tree := topology.FromCPUs([]topology.CPU{
		{Number: 4, Socket: 0, Core: 4}, {Number: 1, Socket: 0, Core: 1}, {Number: 5, Socket: 1, Core: 5},
	})
	tree, err := tree.WithRanks(6)
	if err != nil {
		t.Fatal(err)
	}
	f, err := mem.New(mem.Options{Topology: tree})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	spec, _ := locks.ByName("C-MCS-HEM")
	l, err := spec.New(f, locks.Options{})
	if err != nil {
		t.Fatal(err)
	}
	k, err := lockers.New(l, f)
	if err != nil {
		t.Fatal(err)
	}
	for cpu := range 20 {
		first, count := k.NearOf(cpu)
		if count != 2 {
			t.Errorf("CPU %d has %d ranks, want 2", cpu, count)
		}
		for p := first; p < first+count; p++ {
			got, _ := tree.CPU(locks.Rank(p))
			if want := cpu; (want == 1 || want == 4 || want == 5) && got != want {
				t.Errorf("CPU %d has a rank of CPU %d", want, got)
			}
		}
	}
}

// On two sockets with four cores the lock is handed over inside a socket.
func TestLockerHandsOverLocally(t *testing.T) {
	for _, name := range []string{"C-MCS-HEM", "C-TKT-MCS", "HMCS"} {
		k := newLocker(t, name, "socket:2 core:4")
		k.Move(0, 4)
		k.Lock()
		var all sync.WaitGroup
		for range goroutines {
			all.Go(func() { k.Lock(); k.Unlock() })
		}
		untilInside(k.Inside, 4+goroutines-3) // four ranks of a socket; the others wait for one
		k.Unlock()
		all.Wait()
		s := k.Stats()
		if s.Acquired != goroutines+1 || s.Passed == 0 || s.Upper == s.Acquired {
			t.Errorf("%s: %d acquisitions, %d of them from the other socket, %d hand-overs inside one",
				name, s.Acquired, s.Upper, s.Passed)
		}
		if s.RankWaits == 0 {
			t.Errorf("%s: no goroutine waited for a rank", name)
		}
	}
}
