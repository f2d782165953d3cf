package workers

import (
	"slices"
	"testing"
)

// A worker that makes its own next step ready again and again takes the oldest of its queue, too, and so does one whose
// queue always has a newer one.
func TestFollowingIsFair(t *testing.T) {
	for name, ready := range map[string]func(w *Worker[int], s *int){
		"first": func(w *Worker[int], s *int) { w.Ready(s, w) },
		"queue": (*Worker[int]).Push,
	} {
		w := New[int](1).Worker(0)
		old, young := new(int), new(int)
		w.Push(old)
		waited := 0
		for ready(w, young); w.Following() != old; ready(w, young) {
			if waited++; waited == mostSince {
				t.Fatalf("%s: the oldest step has waited for %d others", name, mostSince)
			}
		}
	}
}

// A queue has an order, while some steps come and some go at both of its ends.
func TestQueueIsInOrder(t *testing.T) {
	w := New[int](1).Worker(0)
	var want []int
	in := 0
	for turn := range 200 {
		for range turn % 7 {
			w.Push(&[]int{in}[0])
			want = append(want, in)
			in++
		}
		for i := range turn % 5 {
			which, at := oldest, 0
			if (turn+i)%3 == 0 {
				which, at = newest, len(want)-1
			}
			s := w.take(which)
			if len(want) == 0 {
				if s != nil {
					t.Fatalf("step %d comes out of an empty queue", *s)
				}
				continue
			}
			if s == nil || *s != want[at] {
				t.Fatalf("turn %d: %v comes out, want %d of %v", turn, s, want[at], want)
			}
			want = slices.Delete(want, at, at+1)
		}
	}
}
