package patience

import (
	"testing"
	"time"
)

// TestRankLearns follows a rank's waits: how often each looked, and whether that
// paid.
func TestRankLearns(t *testing.T) {
	s := Limits{Most: 16, Probe: 10, Rarest: 2 * probe, Elsewhere: true}.Rank(1)
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
		{probe - 1, 10, false},
		{2*probe - 1, 10, false},
		{2*probe - 1, 10, true}, // it begins again
		{0, 16, false},
		{0, 8, false},
		{0, 4, false},
		{probe - 1, 10, false}, // and is not as discouraged as before
	} {
		for range c.unspun {
			if looks := s.Begin(); looks != 0 {
				t.Fatalf("step %d: a wait looks %d times, want none", i, looks)
			}
		}
		if looks := s.Begin(); looks != c.looks {
			t.Fatalf("step %d: the wait looks %d times, want %d", i, looks, c.looks)
		}
		if c.pays {
			s.Paid()
		} else {
			s.Wasted()
		}
	}
}

func TestLooks(t *testing.T) {
	const look = 20 * time.Nanosecond
	if few, many := Looks(time.Nanosecond, look), Looks(time.Second, look); few != least || many != 50_000_000 {
		t.Errorf("%d looks in a nanosecond and %d in a second", few, many)
	}
}

// Ranks that have a processor each look for longer, also when they try again.
func TestLimits(t *testing.T) {
	const look = 20 * time.Nanosecond
	if l := Goroutines(2, 2, look); l.Most != 2500 || l.Probe != l.Most || l.Elsewhere {
		t.Errorf("2 goroutines on 2 processors: %+v", l)
	}
	if l := Goroutines(3, 2, look); l != (Limits{}) {
		t.Errorf("3 goroutines on 2 processors: %+v", l)
	}
	if l := Processes(2, 2, look); l.Most != 2500 || l.Probe != l.Most || !l.Elsewhere {
		t.Errorf("2 processes on 2 processors: %+v", l)
	}
	if l := Processes(3, 2, look); l.Most != 500 || l.Probe != l.Most || !l.Elsewhere {
		t.Errorf("3 processes on 2 processors: %+v", l)
	}
	if r := Goroutines(3, 1, look).Rank(1); !r.Alone() || r.Begin() != 0 {
		t.Error("a goroutine looks though no other one can run meanwhile")
	}
}
