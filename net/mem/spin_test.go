package mem

import (
	"runtime"
	"testing"

	"github.com/orwl/go-orwl/net/internal/direct"
)

// TestSpinning: ranks that have a processor each look for longer.
func TestSpinning(t *testing.T) {
	processors := runtime.GOMAXPROCS(0)
	if most := spinning(processors).Most; most < direct.Looks(spinFor/2) || most > direct.Looks(2*spinFor) {
		t.Errorf("%d ranks on as many processors look %d times", processors, most)
	}
	if crowded := spinning(processors + 1); crowded.Most != 0 {
		t.Errorf("%d ranks on %d processors look %d times", processors+1, processors, crowded.Most)
	}
}
