//go:build !invariants && !race

package invariant_test

import (
	"testing"

	"github.com/orwl/go-orwl/internal/invariant"
)

func TestCheckIsSilentWhenOff(t *testing.T) {
	if invariant.Enabled {
		t.Fatal("asserts are on without a tag that turns them on")
	}
	if got := violation(func() { invariant.Check(false, "%d writers inside", 2) }); got != nil {
		t.Errorf("Check(false) panicked with %#v in an ordinary build", got)
	}
}

// The operands are the expensive part of an assert. Without inlining, every call would
// box them.
func TestCheckAllocatesNothingWhenOff(t *testing.T) {
	queued := 1 << 20 // too large for the runtime's table of small boxed numbers
	if n := testing.AllocsPerRun(100, func() {
		queued++
		invariant.Check(queued < 0, "%d queued, called %s", queued, "q")
	}); n != 0 {
		t.Errorf("a Check that is off allocates %v times", n)
	}
}

func TestSometimesIsSilentWhenOff(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { invariant.Sometimes(true, "on") }); n != 0 {
		t.Errorf("a Sometimes that is off allocates %v times", n)
	}
	if got := invariant.Reached(); len(got) != 0 {
		t.Errorf("an ordinary build has counted %v", got)
	}
}
