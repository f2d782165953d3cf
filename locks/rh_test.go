package locks_test

import (
	"context"
	"slices"
	"testing"

	"github.com/orwl/go-orwl/locks"
)

// The first rank that comes for RH from another element brings the lock there, and a rank of
// a third element follows it. With T_L = 2 a rank leaves the lock to its neighbour once, and
// then frees it for all.
func TestRHGoesFromElementToElement(t *testing.T) {
	for _, way := range []way{byOperations, direct} {
		v := newVisitors(t, "RH", "node:3 core:2", locks.Options{TL: []int{1, 2}, Operations: way == byOperations})
		must(v.m[0].Acquire(context.Background()))
		v.comes(2)
		v.m[0].Release()
		v.all.Wait()
		if got, want := v.counts(), (locks.Counts{Acquired: 2, Upper: 2}); got != want {
			t.Fatalf("%s: counted %+v, want %+v", way, got, want)
		}
		if c := v.m[2].(locks.Counter).Counts(); c.UpperWaited != 1 {
			t.Errorf("%s: the rank that has waited for another element counted %+v", way, c)
		}
		must(v.m[4].Acquire(context.Background())) // by element 1
		v.comes(5)
		v.comes(0)
		v.m[4].Release() // to its neighbour
		v.all.Wait()
		if want := []int{2, 5, 0}; !slices.Equal(v.order, want) {
			t.Errorf("%s: the order is %v, want %v", way, v.order, want)
		}
		if got, want := v.counts(), (locks.Counts{Acquired: 5, Upper: 4, Passed: 1}); got != want {
			t.Errorf("%s: counted %+v, want %+v", way, got, want)
		}
	}
}

// With T_L = 2 two ranks of an element have RH one after the other. The second frees it for
// all, though its neighbour waits.
func TestRHFreesForAll(t *testing.T) {
	for _, way := range []way{byOperations, direct} {
		v := newVisitors(t, "RH", "node:2 core:2", locks.Options{TL: []int{1, 2}, Operations: way == byOperations})
		must(v.m[0].Acquire(context.Background()))
		has := acquireAsync(v.m[1])
		<-v.waits[1]
		v.m[0].Release()
		wait(t, has)
		v.comes(0)
		v.m[1].Release()
		v.all.Wait()
		if got, want := v.counts(), (locks.Counts{Acquired: 3, Upper: 2, Passed: 1}); got != want {
			t.Errorf("%s: counted %+v, want %+v", way, got, want)
		}
	}
}
