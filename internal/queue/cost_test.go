package queue

import (
	"context"
	"runtime"
	"testing"
	"unsafe"

	"github.com/orwl/go-orwl/internal/invariant"
)

// The memory of a resource and of a place: programs have thousands of both.
func TestMemory(t *testing.T) {
	for name, c := range map[string]struct{ got, most uintptr }{
		"Resource": {unsafe.Sizeof(Resource{}), 256},
		"Place":    {unsafe.Sizeof(Place{}), 40},
		"waiter":   {unsafe.Sizeof(waiter{}), 96},
	} {
		t.Logf("%s: %d bytes", name, c.got)
		if c.got > c.most {
			t.Errorf("a %s takes %d bytes, want at most %d", name, c.got, c.most)
		}
	}
	if n := unsafe.Offsetof(queue{}.far) + unsafe.Sizeof(queue{}.far); n > 64 || unsafe.Offsetof(Resource{}.queue) != 0 {
		t.Errorf("a hand-over looks at %d bytes, want those of one cache line", n)
	}
}

// needsOrdinaryBuild skips a test if asserts or the race detector would change its
// result.
func needsOrdinaryBuild(t *testing.T) {
	if invariant.Enabled {
		t.Skip("asserts are on, which allocate: this is for the ordinary build")
	}
}

// TestWaiterMemory measures the memory of a place that has waited.
func TestWaiterMemory(t *testing.T) {
	needsOrdinaryBuild(t)
	const n = 2000
	r := newResource(t, 0)
	var holder Place
	fine(t, holder.Request(r, Write))
	places := make([]*Place, n)
	nothing := func() {}
	// The resource first gets its lists for a queue of that length.
	for i := range places {
		places[i] = new(Place)
		fine(t, places[i].Request(r, Write))
	}
	fine(t, places[n-1].Notify(nothing))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, p := range places[:n-1] {
		fine(t, p.Notify(nothing))
	}
	runtime.ReadMemStats(&after)
	each := (after.TotalAlloc-before.TotalAlloc)/n + uint64(unsafe.Sizeof(Place{}))
	t.Logf("a place that waits takes %d bytes in all", each)
	if each > 192 {
		t.Errorf("a place that waits takes %d bytes in all, want at most 192", each)
	}
}

// An access, a pair's step, a wait that is listed, and an access of either mode among
// others allocate nothing, and neither does an event that observers hear.
func TestStepsAllocateNothing(t *testing.T) {
	r := newResource(t, 8)
	ctx := context.Background()
	var p, q Place
	p.Observe(seer{new(sightings)}, AllOrdered)
	p.Observe(seer{new(sightings)}, Acquired|Released)
	for name, step := range map[string]func(){
		"an access": func() {
			fine(t, p.Request(r, Write))
			fine(t, p.Acquire(ctx))
			if _, err := p.Writable(); err != nil {
				t.Error(err)
			}
			fine(t, p.Release())
		},
		"readers": func() {
			fine(t, p.Request(r, Read))
			fine(t, q.Request(r, Read))
			fine(t, p.Acquire(ctx))
			fine(t, q.Acquire(ctx))
			if _, err := p.Bytes(); err != nil {
				t.Error(err)
			}
			fine(t, p.Release())
			fine(t, q.Release())
		},
		"pairs": func() {
			for _, p := range []*Place{&p, &q} {
				if !p.Requested() {
					fine(t, p.Request(r, Write))
				}
			}
			for range 2 {
				fine(t, p.Acquire(ctx))
				fine(t, p.Renew())
				fine(t, q.Acquire(ctx))
				fine(t, q.Renew())
			}
			fine(t, p.Cancel())
			fine(t, q.Cancel())
		},
	} {
		if n := testing.AllocsPerRun(100, step); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	fine(t, p.Request(r, Write))
	if n := testing.AllocsPerRun(100, func() {
		fine(t, p.Acquire(ctx))
		fine(t, p.Renew())
	}); n != 0 {
		t.Errorf("a pair's step: %v allocations", n)
	}
}

// Two goroutines that alternate, and sleep each time, allocate nothing.
func TestTurnsAllocateNothing(t *testing.T) {
	needsOrdinaryBuild(t)
	const rounds = 2000
	ctx := context.Background()
	r := newResource(t, 0)
	var p, q Place
	g := new(visitor)
	p.Observe(seer{&g.seen}, AllOrdered)
	turn := func(p *Place) {
		for range rounds {
			fine(t, p.Acquire(ctx))
			fine(t, p.Renew())
		}
		fine(t, p.Acquire(ctx))
		fine(t, p.Release())
	}
	n := testing.AllocsPerRun(1, func() {
		fine(t, p.Request(r, Write))
		fine(t, q.Request(r, Write))
		done := make(chan struct{})
		go func() {
			defer close(done)
			turn(&q)
		}()
		turn(&p)
		<-done
	})
	t.Logf("%v allocations in %d turns; one of the two waited %d times in twice as many", n, 2*rounds, g.seen.waited)
	if n > 16 { // the goroutine, the channel
		t.Errorf("%v allocations in %d turns", n, 2*rounds)
	}
	if g.seen.waited < rounds {
		t.Errorf("waited %d times: they did not alternate", g.seen.waited)
	}
}
