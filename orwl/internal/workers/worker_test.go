package workers

import (
	"slices"
	"testing"
)

// A worker that makes its own next step ready again and again takes the oldest of its queue, too, and so does one whose
// queue always has a newer one.
func TestFollowingIsFair(t *testing.T) {
	for name, ready := range map[string]func(w *Worker[int], s *int){
		"first":        func(w *Worker[int], s *int) { w.Ready(s, Plain, w) },
		"queue":        func(w *Worker[int], s *int) { w.Push(s, Plain) },
		"urgent":       func(w *Worker[int], s *int) { w.Push(s, 1) },
		"urgent first": func(w *Worker[int], s *int) { w.Ready(s, 1, w) },
	} {
		w := New[int](1).Worker(0)
		old, young := new(int), new(int)
		w.Push(old, Plain)
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
			w.Push(&[]int{in}[0], Plain)
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

// A worker runs its first step some time, although urgent steps come again and again.
func TestFirstIsNotForgotten(t *testing.T) {
	w := New[int](1).Worker(0)
	first, urgent := new(int), new(int)
	w.Ready(first, Plain, w)
	waited := 0
	for w.Push(urgent, 1); w.Following() != first; w.Push(urgent, 1) {
		if waited++; waited == 2*mostSince {
			t.Fatalf("the first step has waited for %d others", waited)
		}
	}
}

// Urgent steps come before plain ones, and before the first one if that is plain.
func TestUrgentFirst(t *testing.T) {
	steps := make([]int, 5)
	w := New[int](1).Worker(0)
	w.Ready(&steps[3], Plain, w) // the first,
	w.Ready(&steps[0], 1, w)     // until this one comes
	w.Push(&steps[1], 1)
	next := func(want int) {
		t.Helper()
		if s := w.Following(); s != &steps[want] {
			t.Errorf("a worker does not run step %d", want)
		}
	}
	next(0)
	next(1)
	w.Ready(&steps[4], Plain, w) // the first
	w.Push(&steps[2], 1)
	next(2)
	next(4)
	next(3)
}
