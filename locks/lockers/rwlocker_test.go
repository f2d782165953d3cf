package lockers_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

//lint:file-ignore SA2001 that a lock can be had and let go is what is tested

func TestRWLockerExcludes(t *testing.T) {
	eachLock(t, withReaders, func(t *testing.T, name, machine string) {
		k := newRWLocker(t, name, machine)
		r := k.RLocker()
		a, b := 0, 0
		crowd(func(g int) {
			for i := range lockerTurns.N() {
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
		if want := goroutines * lockerTurns.N() / 4; a != want || b != want {
			t.Errorf("counted %d and %d, want %d", a, b, want)
		}
	})
}

// Many more goroutines than ranks read at once: each waits inside for the others.
func TestRWLockerReadersShare(t *testing.T) {
	eachLock(t, withReaders, func(t *testing.T, name, machine string) {
		k := newRWLocker(t, name, machine)
		const readers = 900 // on one rank, if need be
		var inside, all sync.WaitGroup
		inside.Add(readers)
		for range readers {
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

// Readers that waited for a rank read beside each other: each meets another one inside.
func TestRWLockerCallsReaders(t *testing.T) {
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
	untilInside(k.Locker.Inside, 5)
	k.Unlock()
	all.Wait()
}

// untilInside waits until so many goroutines have a rank or wait for one.
func untilInside(inside func() int, n int) {
	for inside() != n {
		runtime.Gosched()
	}
}

// Readers leave by whichever goroutine comes, while others come and go, and
// writers find no reader inside.
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
			for i := range lockerTurns.N() {
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
