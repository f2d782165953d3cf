package queue

import (
	"testing"

	"github.com/orwl/go-orwl/internal/invariant"
)

// mustReach fails the test for each state that was not reached since the last call of
// Reached. An ordinary build does not count: go test -tags invariants, as CI does.
func mustReach(t *testing.T, states ...string) {
	t.Helper()
	if !invariant.Enabled {
		return
	}
	reached := invariant.Reached()
	for _, s := range states {
		if reached[s] == 0 {
			t.Errorf("no seed reaches this state: %s", s)
		}
		t.Logf("%6d times: %s", reached[s], s)
	}
}
