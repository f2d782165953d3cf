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

func TestSometimesCounts(t *testing.T) {
	invariant.Reached()
	for i := range 5 {
		invariant.Sometimes(i%2 == 0, "even")
		invariant.Sometimes(i > 9, "large")
	}
	if got := invariant.Reached(); len(got) != 1 || got["even"] != 3 {
		t.Errorf("reached %v, want 3 times even", got)
	}
	if got := invariant.Reached(); len(got) != 0 {
		t.Errorf("reached %v after it was asked for", got)
	}
}
