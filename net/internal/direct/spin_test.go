package direct

import (
	"testing"
	"time"
)

// TestSpinLearns follows a rank's waits: how often each looked, and whether that
// paid.
func TestSpinLearns(t *testing.T) {
	s := newSpin(Spin{Most: 16, Probe: 10, Rarest: 2 * spinProbe, Elsewhere: true})
	for i, c := range []struct {
		unspun int // waits that do not spin come first
		looks  int32
		pays   bool
	}{
		{0, 16, true},
		{0, 16, false},
		{0, 8, true},
		{0, 16, false},
		{0, 8, false},
		{0, 4, false}, // it stops spinning
		{spinProbe - 1, 10, false},
		{2*spinProbe - 1, 10, false},
		{2*spinProbe - 1, 10, true}, // it begins again
		{0, 16, false},
		{0, 8, false},
		{0, 4, false},
		{spinProbe - 1, 10, false}, // and is not as discouraged as before
	} {
		for range c.unspun {
			if looks := s.begin(); looks != 0 {
				t.Fatalf("step %d: a wait looks %d times, want none", i, looks)
			}
		}
		if looks := s.begin(); looks != c.looks {
			t.Fatalf("step %d: the wait looks %d times, want %d", i, looks, c.looks)
		}
		if c.pays {
			s.paid()
		} else {
			s.wasted()
		}
	}
}

func TestLooks(t *testing.T) {
	if few, many := Looks(time.Nanosecond), Looks(time.Second); few != spinLeast || many < 1000*few {
		t.Errorf("%d looks in a nanosecond and %d in a second", few, many)
	}
}
