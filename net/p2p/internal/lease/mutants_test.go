package lease

import (
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/mutants"
	"github.com/orwl/go-orwl/internal/rings"
)

var trial = mutants.Flags("lease")

// telling are the mutants that a change tries.
var telling = []string{
	"contact.go Contact.Takes: c.Hears(now): dropped",
}

// TestMutants makes one small mistake at a time, and expects the tests to notice. The plays
// of TestDrift and TestTenureProof notice those that are not safe.
func TestMutants(t *testing.T) {
	rings.Needs(t, rings.Change)
	(&mutants.Plan{
		Files: []mutants.File{{Name: "contact.go"}, {Name: "tenure.go"}},
		Rules: mutants.Rules{
			Spares:   func(string, string) bool { return false },
			Computes: func(string) bool { return true },
			Returns:  true,
		},
		Stages:  []mutants.Stage{{Name: "tests", Tests: ".", Flags: []string{"-test.skip", "^TestMutants$", "-lease.seeds", "3000"}, Limit: 20 * time.Second}},
		Telling: telling, Turn: 1, Page: "testdata/survivors.md",
	}).Run(t, *trial)
}
