package coherence

import (
	"testing"

	"github.com/orwl/go-orwl/internal/invariant"
)

// rare are the states that some seed of TestRareStates must reach.
var rare = []string{
	"a cancel crosses the grant",
	"a release of a life that is over",
	"a write of a life that is over",
	"a new life comes while the old one holds",
	"an orphaned guest is granted",
	"the answer to a question comes after another write",
	"a lost write is reported, and committed all the same",
	"a message is spoilt",
	"memory is swapped",
}

// mustReach fails the test for each state that was not reached since the last call of
// Reached. An ordinary build does not count: go test -tags invariants, as CI does.
func mustReach(t *testing.T, states []string) {
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
