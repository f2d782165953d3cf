package resource

import (
	"math/bits"
	"testing"
)

// A waiter is found wherever it is in a queue of any length, and the number of lists is
// at most a few times that length.
func TestSlotsGrow(t *testing.T) {
	for _, n := range []int{1, fewest, fewest + 1, 2*fewest + 1, 100} {
		for _, begin := range []uint64{0, word(0, -3), word(-3, -60)} {
			for _, lastFirst := range []bool{false, true} {
				r := newResource(t, 0)
				r.requested.Store(begin)
				r.completed.Store(begin)
				var holder Place
				fine(t, holder.Request(r, Write))
				places := make([]Place, 2*n)
				told := make([]int, 2*n)
				for i := range places {
					fine(t, places[i].Request(r, Mode(i%2))) // a reader, a writer
				}
				for i := range places {
					if lastFirst {
						i = 2*n - 1 - i
					}
					fine(t, places[i].Notify(func() { told[i]++ }))
				}
				levels, lists := 0, 0
				for s := r.far.Load(); s != nil; s = s.older {
					levels++
					lists += len(s.lists)
					if bits.OnesCount(uint(len(s.lists))) != 1 {
						t.Errorf("%d lists, no power of two", len(s.lists))
					}
				}
				if want := bits.Len(uint(n)); levels > want || lists > 8*n || (n > fewest) != (levels > 0) || lastFirst && levels > 1 {
					t.Errorf("%d writers: %d levels with %d lists", n, levels, lists)
				}
				fine(t, holder.Acquire(t.Context()))
				fine(t, holder.Release())
				for i := range places {
					for j, told := range told {
						// The writer of a group waits for its reader.
						if want := j <= i; (told == 1) != want || told > 1 {
							t.Fatalf("%d writers, step %d: place %d was told %d times", n, i, j, told)
						}
					}
					fine(t, places[i].Acquire(t.Context()))
					fine(t, places[i].Release())
				}
			}
		}
	}
}

// A waiter that lists itself after its turn has come is in a list that settle looks at.
func TestListedAfterItsTurn(t *testing.T) {
	for writers := range 2 * fewest {
		r := newResource(t, 0)
		var p Place
		fine(t, p.Request(r, Read))
		for range writers {
			var w Place
			fine(t, w.Request(r, Write))
			fine(t, w.Cancel()) // a ghost that passes p
		}
		told := false
		fine(t, p.Notify(func() { told = true }))
		if !told {
			t.Errorf("not told, %d writers later", writers)
		}
		fine(t, p.Acquire(t.Context()))
		fine(t, p.Release())
		if q, c := r.requested.Load(), r.completed.Load(); q != c {
			t.Errorf("%#x requested, %#x completed", q, c)
		}
	}
}
