package specimen

import "testing"

func TestLarger(t *testing.T) {
	for _, c := range [][3]int{{1, 2, 2}, {2, 1, 2}, {2, 2, 2}} {
		if got := Larger(c[0], c[1]); got != c[2] {
			t.Errorf("of %d and %d: %d", c[0], c[1], got)
		}
	}
}

func TestWait(t *testing.T) {
	n := 0
	Wait(func() bool { n++; return n > 3 })
	if n < 4 {
		t.Errorf("it went on after %d looks", n)
	}
}
