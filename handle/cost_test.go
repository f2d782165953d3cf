package handle

import (
	"context"
	"runtime"
	"testing"
	"unsafe"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/internal/queue"
)

// needsOrdinaryBuild skips a test whose result asserts and the race detector change.
func needsOrdinaryBuild(t *testing.T) {
	if invariant.Enabled {
		t.Skip("asserts are on, which allocate: this is for the ordinary build")
	}
}

// TestPairMemory measures the memory of a pair that waits.
func TestPairMemory(t *testing.T) {
	needsOrdinaryBuild(t)
	t.Logf("a Handle has %d bytes, a Pair %d", unsafe.Sizeof(Handle{}), unsafe.Sizeof(Pair{}))
	const n = 2000
	r := newResource(t, 8)
	first := holder(t, r)
	// The resource grows its own lists first.
	for range n {
		var p Pair
		fine(t, p.Request(r, queue.Write))
	}
	var last Pair
	fine(t, last.Request(r, queue.Write))
	nothing := func() {}
	fine(t, last.place.Notify(nothing))
	fine(t, first.Release())

	pairs := make([]*Pair, n)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range pairs {
		p := new(Pair)
		fine(t, p.Request(r, queue.Read))
		fine(t, p.place.Notify(nothing))
		pairs[i] = p
	}
	runtime.ReadMemStats(&after)
	each := (after.TotalAlloc - before.TotalAlloc) / n
	t.Logf("a pair that waits takes %d bytes in all", each)
	if each > 256 {
		t.Errorf("a pair that waits takes %d bytes in all, want at most 256", each)
	}
	runtime.KeepAlive(pairs)
}

// Accesses through handles, pairs and vectors allocate nothing. Nor do their views.
func TestAccessesAllocateNothing(t *testing.T) {
	needsOrdinaryBuild(t)
	ctx := context.Background()
	r, s := newResource(t, 64), newResource(t, 64)
	var h Handle
	var p, q Pair
	fine(t, p.Request(s, queue.Write))
	fine(t, q.Request(r, queue.Read))
	v := Vector{&p, &q}
	write := func() error {
		x, err := Write[float64](&p)
		x[1]++
		return err
	}
	for name, do := range map[string]func(){
		"access": func() {
			fine(t, h.Request(r, queue.Read))
			fine(t, h.Acquire(ctx))
			if x, err := Read[float64](&h); err != nil || x.Len() != 8 {
				t.Error(err)
			}
			fine(t, h.Release())
		},
		"pair": func() {
			fine(t, p.Acquire(ctx))
			if err := write(); err != nil {
				t.Error(err)
			}
			fine(t, p.Next())
		},
		"vector": func() {
			fine(t, v.Acquire(ctx))
			fine(t, v.Next())
		},
	} {
		if n := testing.AllocsPerRun(100, do); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// Two goroutines that alternate allocate nothing, although one of them always sleeps.
func TestAlternationAllocatesNothing(t *testing.T) {
	needsOrdinaryBuild(t)
	const rounds = 1000
	ctx := context.Background()
	r := newResource(t, 8)
	var pairs [2]Pair
	turns := func(p *Pair) {
		for i := range rounds {
			fine(t, p.Acquire(ctx))
			x, err := Write[float64](p)
			fine(t, err)
			x[0]++
			if i == rounds-1 {
				fine(t, p.Release())
			} else {
				fine(t, p.Next())
			}
		}
	}
	n := testing.AllocsPerRun(1, func() {
		for i := range pairs {
			fine(t, pairs[i].Request(r, queue.Write))
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			turns(&pairs[1])
		}()
		turns(&pairs[0])
		<-done
	})
	t.Logf("%v allocations in %d turns", n, 2*rounds)
	if n > 16 { // the goroutine, the channel
		t.Errorf("%v allocations in %d turns", n, 2*rounds)
	}
	if x, err := Read[float64](holder(t, r)); err != nil || x.At(0) != 4*rounds {
		t.Errorf("counted %v, %v, want %d", x.At(0), err, 4*rounds)
	}
}
