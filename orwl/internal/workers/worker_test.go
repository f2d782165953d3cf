package workers

import "testing"

// A worker that makes its own next step ready again and again looks at its queue, too.
func TestFollowingIsFair(t *testing.T) {
	w := New[int](1).Worker(0)
	own, other := new(int), new(int)
	w.Push(other)
	w.Ready(own, w)
	for range mostInRow {
		if s := w.Following(); s == other {
			return
		}
		w.Ready(own, w)
	}
	t.Errorf("the step in the queue has waited for %d others", mostInRow)
}

// A queue gives its steps in the order of coming, while some come and some go.
func TestQueueIsInOrder(t *testing.T) {
	w := New[int](1).Worker(0)
	in, out := 0, 0
	for turn := range 100 {
		for range turn % 7 {
			w.Push(&[]int{in}[0])
			in++
		}
		for range turn % 5 {
			if s := w.pop(); s != nil {
				if *s != out {
					t.Fatalf("step %d comes out, want %d", *s, out)
				}
				out++
			} else if in != out {
				t.Fatalf("the queue is empty, %d of %d came out", out, in)
			}
		}
	}
}
