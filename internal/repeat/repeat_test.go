package repeat_test

import (
	"testing"

	"github.com/orwl/go-orwl/internal/repeat"
)

// A test is skipped in a run that repeats, and in no other.
func TestSkip(t *testing.T) {
	for value, want := range map[string]bool{"": repeat.Race, "1": true} {
		t.Setenv(repeat.Variable, value)
		skipped := false
		t.Run("inner", func(t *testing.T) {
			defer func() { skipped = t.Skipped() }()
			repeat.Skip(t)
		})
		if skipped != want {
			t.Errorf("with %s=%q a test is skipped: %t, want %t", repeat.Variable, value, skipped, want)
		}
	}
}
