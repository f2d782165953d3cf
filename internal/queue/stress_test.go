package queue

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/orwl/go-orwl/internal/invariant"
)

// TestStress runs many goroutines on one resource, with words that overflow meanwhile.
// Bytes and counts are ordinary memory, so the race detector finds accesses that are
// not ordered.
func TestStress(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, begin := range []uint64{0, word(-100, 5), word(5, -100), word(-50, -50)} {
		for _, writers := range []int{1, 4, 7} { // of 8
			stress(t, begin, writers)
		}
	}
}

func stress(t *testing.T, begin uint64, writers int) {
	const goroutines, rounds = 24, 60
	r := newResource(t, 8)
	r.requested.Store(begin)
	r.completed.Store(begin)
	if invariant.Enabled {
		r.probe = yielder{}
	}
	seed := rand.Uint64()
	var inside, wrote, told, asked atomic.Int64 // inside: readers, or -1
	var all sync.WaitGroup
	for n := range goroutines {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(n)))
			var p Place
			for range rounds {
				m := Read
				if rng.IntN(8) < writers {
					m = Write
				}
				if !p.Requested() {
					if err := p.Request(r, m); err != nil {
						t.Error(err)
						return
					}
				}
				m = p.Mode()
				var mine atomic.Int64
				noticed := rng.IntN(4) == 0
				if noticed {
					asked.Add(1)
					if err := p.Notify(func() { mine.Add(1); told.Add(1) }); err != nil {
						t.Error(err)
					}
				}
				if rng.IntN(6) == 0 {
					if err := p.Cancel(); err != nil {
						t.Error(err)
					}
					if n := mine.Load(); n > 1 {
						t.Errorf("told %d times", n)
					}
					continue
				}
				for {
					ctx, cancel := context.WithCancel(context.Background())
					if rng.IntN(3) == 0 {
						go cancel() // before, during, or long afterwards
					}
					err := p.Acquire(ctx)
					cancel()
					if err == nil {
						break
					}
					if !errors.Is(err, context.Canceled) {
						t.Error(err)
						return
					}
				}
				for noticed && mine.Load() == 0 {
					runtime.Gosched() // the goroutine that has granted it is about to tell
				}
				if n := mine.Load(); noticed != (n == 1) {
					t.Errorf("told %d times of a request that was acquired, asked: %t", n, noticed)
				}
				b, err := p.Bytes()
				if m == Write {
					b, err = p.Writable()
				}
				if err != nil {
					t.Error(err)
					return
				}
				count := binary.NativeEndian.Uint64(b)
				if count != p.Version() {
					t.Errorf("%d writes, version %d", count, p.Version())
				}
				if m == Write {
					if !inside.CompareAndSwap(0, -1) {
						t.Error("a writer is not alone")
					}
					binary.NativeEndian.PutUint64(b, count+1)
					wrote.Add(1)
					runtime.Gosched()
					inside.Store(0)
				} else {
					if inside.Add(1) < 1 {
						t.Error("a reader beside a writer")
					}
					runtime.Gosched()
					inside.Add(-1)
				}
				do := p.Release
				if rng.IntN(2) == 0 {
					do = p.Renew
				}
				if err := do(); err != nil {
					t.Error(err)
				}
			}
			if p.Requested() {
				if err := p.Cancel(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	var last Place
	fine(t, last.Request(r, Read))
	if !last.Granted() {
		t.Fatal("a request is left in the queue")
	}
	fine(t, last.Acquire(context.Background()))
	if last.Version() != uint64(wrote.Load()) || told.Load() > asked.Load() {
		t.Errorf("version %d after %d writes; told %d times, asked %d", last.Version(), wrote.Load(), told.Load(), asked.Load())
	}
	fine(t, last.Release())
	if n := r.waiting(); n != 0 {
		t.Errorf("%d still wait", n)
	}
}

// TestBreakUnderStress breaks a resource that many use: all learn of it, and no one
// enters afterwards.
func TestBreakUnderStress(t *testing.T) {
	defer goleak.VerifyNone(t)
	for range 30 {
		r := newResource(t, 8)
		if invariant.Enabled {
			r.probe = yielder{}
		}
		var all sync.WaitGroup
		var over atomic.Bool
		const goroutines = 12
		for n := range goroutines {
			all.Go(func() {
				var p Place
				var err error
				for i := 0; err == nil; i++ {
					if !p.Requested() {
						fine(t, p.Request(r, Mode((n+i)%2)))
					}
					if i%5 == 4 {
						fine(t, p.Cancel())
						continue
					}
					if n == 0 && i == 20 {
						r.Break(errFire)
						over.Store(true)
					}
					was := over.Load()
					if err = p.Acquire(context.Background()); err == nil {
						if was {
							t.Error("granted after it was broken")
						}
						fine(t, p.Renew())
					}
				}
				if !errors.Is(err, errFire) {
					t.Error(err)
				}
				fine(t, p.Cancel())
			})
		}
		all.Wait()
		if q, c := r.requested.Load(), r.completed.Load(); q != c&^flags {
			t.Errorf("%#x requested, %#x completed", q, c)
		}
		if n := r.waiting(); n != 0 {
			t.Errorf("%d still wait", n)
		}
	}
}
