package park

import (
	"bytes"
	"io"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// bed is a place with a word that says whether a goroutine sleeps there.
type bed struct {
	Place
	asleep atomic.Bool
	look   func() bool // reports whether to wake up at once
}

func newBeds(n int) []*bed {
	beds := make([]*bed, n)
	for i := range beds {
		b := new(bed)
		b.Init(func() {
			b.asleep.Store(true)
			if b.look != nil && b.look() {
				b.wake()
			}
		})
		beds[i] = b
	}
	return beds
}

// wake wakes the sleeper, and reports whether there was one.
func (b *bed) wake() bool {
	if !b.asleep.CompareAndSwap(true, false) {
		return false
	}
	b.Unpark()
	return true
}

// TestTurns lets goroutines wake each other in a ring.
func TestTurns(t *testing.T) {
	for _, n := range []int{2, 3, 64} {
		turns(n, 20000/n)
	}
}

// turns gives each of n goroutines the same number of turns.
func turns(n, rounds int) {
	beds := newBeds(n)
	var all sync.WaitGroup
	for i, own := range beds {
		next := beds[(i+1)%n]
		all.Go(func() {
			for round := range rounds {
				own.Park()
				if i == n-1 && round == rounds-1 {
					return // all turns are over
				}
				for !next.wake() {
					runtime.Gosched()
				}
			}
		})
	}
	for !beds[0].wake() {
		runtime.Gosched()
	}
	all.Wait()
}

// TestWokenByItself parks although the announcement finds no reason to, and wakes the
// goroutine itself. Other goroutines race to wake it, too.
func TestWokenByItself(t *testing.T) {
	for _, helpers := range []int{0, 1, 3} {
		wokenByItself(helpers)
	}
}

func wokenByItself(helpers int) {
	b := newBeds(1)[0]
	b.look = func() bool { return true }
	var stop atomic.Bool
	var all sync.WaitGroup
	for range helpers {
		all.Go(func() {
			for !stop.Load() {
				b.wake()
				runtime.Gosched()
			}
		})
	}
	for range 5000 {
		b.Park()
	}
	stop.Store(true)
	all.Wait()
}

// TestOneAfterAnother lets several goroutines park at one place in turns, while
// others wake the present one.
func TestOneAfterAnother(t *testing.T) {
	b := newBeds(1)[0]
	b.look = func() bool { return true }
	var turn sync.Mutex
	var parkers, wakers sync.WaitGroup
	var stop atomic.Bool
	for range 4 {
		parkers.Go(func() {
			for range 1000 {
				turn.Lock()
				b.Park()
				turn.Unlock()
			}
		})
	}
	for range 2 {
		wakers.Go(func() {
			for !stop.Load() {
				b.wake()
				runtime.Gosched()
			}
		})
	}
	parkers.Wait()
	stop.Store(true)
	wakers.Wait()
}

// TestCollector moves the stacks of parked goroutines.
func TestCollector(t *testing.T) {
	beds := newBeds(8)
	var all sync.WaitGroup
	for i, b := range beds {
		all.Go(func() {
			if got, want := deep(b, 200, i), 200*i; got != want {
				t.Errorf("place %d: %d, want %d", i, got, want)
			}
		})
	}
	for _, b := range beds {
		for !b.asleep.Load() {
			runtime.Gosched()
		}
	}
	for range 3 {
		runtime.GC()
	}
	for _, b := range beds {
		b.wake()
	}
	all.Wait()
}

// deep parks at the bottom of a stack that it reads on the way back.
func deep(b *bed, depth, x int) int {
	if depth == 0 {
		var shallow func(n int) int
		shallow = func(n int) int {
			if n == 0 {
				return 0
			}
			return 1 + shallow(n-1)
		}
		shallow(5000) // grows the stack, so that the collector shrinks it
		b.Park()
		return 0
	}
	here := &x
	return deep(b, depth-1, x) + *here
}

// TestBubble parks in a synctest bubble. The bubble notices that all its goroutines
// are blocked.
func TestBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBeds(1)[0]
		woken := false
		go func() {
			b.Park()
			woken = true
		}()
		synctest.Wait()
		if woken || !b.wake() {
			t.Fatal("no goroutine is parked")
		}
		synctest.Wait()
		if !woken {
			t.Error("still parked")
		}
	})
}

// TestTraced runs while the runtime traces each park and each wake-up, with the
// stacks.
func TestTraced(t *testing.T) {
	if trace.IsEnabled() {
		t.Skip("a trace is being written already")
	}
	if err := trace.Start(io.Discard); err != nil {
		t.Fatal(err)
	}
	defer trace.Stop()
	turns(3, 1000)
	wokenByItself(1)
}

// TestDump finds a parked goroutine in a dump, under the reason that the numbers in
// this package ask for.
func TestDump(t *testing.T) {
	b := newBeds(1)[0]
	done := make(chan struct{})
	go func() {
		b.Park()
		close(done)
	}()
	for !b.asleep.Load() {
		runtime.Gosched()
	}
	dump := make([]byte, 1<<16)
	dump = dump[:runtime.Stack(dump, true)]
	found := false
	for goroutine := range bytes.SplitSeq(dump, []byte("\n\n")) {
		text := string(goroutine)
		if strings.Contains(text, "park.TestDump.func") {
			found = strings.Contains(text, "[coroutine]") || strings.Contains(text, "[chan receive]")
		}
	}
	if !found {
		t.Errorf("no goroutine waits in TestDump:\n%s", dump)
	}
	b.wake()
	<-done
}

// TestLeakProfile takes the profile of leaked goroutines while a goroutine is parked:
// the profile must not report it.
func TestLeakProfile(t *testing.T) {
	profile := pprof.Lookup("goroutineleak")
	if profile == nil {
		t.Skip("this Go version has no profile of leaked goroutines")
	}
	b := newBeds(1)[0]
	done := make(chan struct{})
	go func() {
		b.Park()
		close(done)
	}()
	for !b.asleep.Load() {
		runtime.Gosched()
	}
	var leaks bytes.Buffer
	if err := profile.WriteTo(&leaks, 1); err != nil {
		t.Error(err)
	}
	if strings.Contains(leaks.String(), "park.TestLeakProfile.func") {
		t.Errorf("a parked goroutine is in the profile:\n%s", &leaks)
	}
	b.wake()
	<-done
}
