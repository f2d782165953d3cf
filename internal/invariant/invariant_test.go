package invariant_test

import (
	"testing"

	"github.com/orwl/go-orwl/internal/invariant"
)

func TestCheckPassesWhatHolds(t *testing.T) {
	invariant.Check(true, "never %s", "shown")
}

// violation returns the value that assert panicked with, or nil.
func violation(assert func()) (v any) {
	defer func() { v = recover() }()
	assert()
	return nil
}
