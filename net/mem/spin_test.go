package mem

import (
	"runtime"
	"testing"

	"github.com/orwl/go-orwl/net/internal/direct"
)

// TestSpinning: ranks that have a processor each look for longer, also when they try again.
func TestSpinning(t *testing.T) {
	processors := runtime.GOMAXPROCS(0)
	s := spinning(processors)
	if s.Most < direct.Looks(spinFor/2) || s.Most > direct.Looks(2*spinFor) {
		t.Errorf("%d ranks on as many processors look %d times", processors, s.Most)
	}
	if s.Probe != s.Most {
		t.Errorf("a rank that has stopped looking tries %d times, want %d", s.Probe, s.Most)
	}
	if crowded := spinning(processors + 1); crowded.Most != 0 {
		t.Errorf("%d ranks on %d processors look %d times", processors+1, processors, crowded.Most)
	}
}
