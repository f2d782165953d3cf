//go:build invariants || race

package invariant_test

import (
	"testing"

	"github.com/orwl/go-orwl/internal/invariant"
)

func TestCheckPanicsWithWhatIsBroken(t *testing.T) {
	if !invariant.Enabled {
		t.Fatal("asserts are off under a tag that turns them on")
	}
	got := violation(func() { invariant.Check(false, "%d writers inside", 2) })
	v, ok := got.(invariant.Violation)
	if want := "invariant violated: 2 writers inside"; !ok || v.Error() != want {
		t.Errorf("Check(false) panicked with %#v, want the Violation %q", got, want)
	}
}
