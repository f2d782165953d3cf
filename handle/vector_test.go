package handle

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/resource"
)

func TestVector(t *testing.T) {
	ctx := t.Context()
	a, b, c := newResource(t, 8), newResource(t, 8), newResource(t, 8)
	var h Handle
	var p, q Pair
	v := Vector{&h, &p, &q}
	fine(t, h.Request(a, queue.Write))
	fine(t, p.Request(b, queue.Read))
	first := holder(t, c)
	fine(t, q.Request(c, queue.Write))
	for range 2 {
		if err := v.Acquire(ended()); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if !h.place.Held() || !p.place.Held() || !q.place.Requested() {
			t.Error("want the first two held, and the third to wait")
		}
	}
	fine(t, first.Release())
	fine(t, v.Acquire(ended()))
	fine(t, v.Next())
	if h.place.Requested() || !p.place.Requested() || !q.place.Requested() {
		t.Error("want the pairs to be requested again, and the handle to be idle")
	}
	// A handle that was not requested is the first to fail, and those behind it
	// are not acquired.
	if err := v.Acquire(ctx); !errors.Is(err, queue.ErrNotRequested) || p.place.Held() {
		t.Errorf("%v, the next is held: %t", err, p.place.Held())
	}
	fine(t, h.Request(a, queue.Write))
	fine(t, p.Acquire(ctx))
	fine(t, v.cancel())
	for i, g := range v {
		if pl := &g.held().place; pl.Requested() || pl.Held() {
			t.Errorf("number %d is not idle", i)
		}
	}
	fine(t, v.cancel())
	for _, r := range []*resource.Resource{a, b, c} {
		holder(t, r)
	}
}

// One failure keeps no other member from its release, and is returned.
func TestVectorFails(t *testing.T) {
	r := newResource(t, 8)
	var hs [3]Handle
	fine(t, hs[0].Request(r, queue.Read))
	fine(t, hs[0].Acquire(t.Context()))
	fine(t, hs[2].Request(r, queue.Read))
	fine(t, hs[2].Acquire(t.Context()))
	v := Vector{&hs[0], &hs[1], &hs[2]}
	err := v.Next()
	if !errors.Is(err, queue.ErrNotHeld) || hs[0].place.Held() || hs[2].place.Held() {
		t.Errorf("%v, and the others are held: %t, %t", err, hs[0].place.Held(), hs[2].place.Held())
	}
	if Vector(nil).Acquire(ended()) != nil || Vector(nil).Next() != nil || Vector(nil).cancel() != nil {
		t.Error("an empty vector fails")
	}
}

// Vectors in the same order do not deadlock if all have made their first requests before
// one of them requests again.
func TestVectorsMeet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newResource(t, 8), newResource(t, 8)
		done := make(chan error)
		const n, rounds = 4, 20
		var pairs [n][2]Pair
		for i := range pairs {
			fine(t, pairs[i][0].Request(a, queue.Write))
			fine(t, pairs[i][1].Request(b, queue.Write))
		}
		for i := range pairs {
			go func() {
				x, y := &pairs[i][0], &pairs[i][1]
				v := Vector{x, y}
				var err error
				for range rounds {
					err = errors.Join(err, v.Acquire(t.Context()))
					for _, p := range []*Pair{x, y} {
						s, e := Write[float64](p)
						err = errors.Join(err, e)
						s[0]++
					}
					err = errors.Join(err, v.Next())
				}
				done <- errors.Join(err, v.cancel())
			}()
		}
		for range n {
			fine(t, <-done)
		}
		for _, r := range []*resource.Resource{a, b} {
			v, err := Read[float64](holder(t, r))
			if err != nil || v.At(0) != n*rounds {
				t.Errorf("counted %v, %v, want %d", v.At(0), err, n*rounds)
			}
		}
	})
}

// Abandon leaves every handle of a vector idle, and commits nothing.
func TestVectorAbandon(t *testing.T) {
	reason := errors.New("a reason")
	a, b, c := newResource(t, 8), newResource(t, 8), newResource(t, 8)
	var writes, waits Pair
	var reads, idle Handle
	v := Vector{&writes, &reads, &waits, &idle}
	first := holder(t, c)
	fine(t, writes.Request(a, queue.Write))
	fine(t, reads.Request(b, queue.Read))
	fine(t, waits.Request(c, queue.Write))
	fine(t, writes.Acquire(t.Context()))
	fine(t, reads.Acquire(t.Context()))
	_, err := Write[float64](&writes)
	fine(t, err)
	fine(t, v.Abandon(reason))
	for i, g := range v {
		if place := &g.held().place; place.Held() || place.Requested() {
			t.Errorf("handle %d: held %t, requested %t", i, place.Held(), place.Requested())
		}
	}
	fine(t, first.Release())
	for r, want := range map[*resource.Resource]error{a: queue.ErrPoisoned, b: nil, c: nil} {
		if err := holder(t, r).Prior(); !errors.Is(err, want) {
			t.Errorf("prior is %v, want %v", err, want)
		}
	}
	if err := idle.Abandon(reason); !errors.Is(err, queue.ErrNotHeld) {
		t.Errorf("of an idle handle: %v", err)
	}
}
