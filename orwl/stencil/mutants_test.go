package stencil

import (
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/internal/mutants"
	"github.com/orwl/go-orwl/internal/rings"
)

var mutantTrial = mutants.Flags("stencil")

// telling are the mutants that a change tries.
var telling = []string{
	"memory.go memory[T].load: n == 1: always",
	"watch.go Grid.Spent: going = going || !over: dropped",
	"watch.go Account.count: there <= asked: off by one",
}

// TestMutants makes one small mistake at a time in what a pass does, and expects the tests to notice: go test
// ./orwl/stencil -run TestMutants -stencil.mutants 2 -timeout 1h. testdata/survivors.md explains those that they do not
// notice. Without the flag it builds all mutants, and tries a few.
func TestMutants(t *testing.T) {
	rings.Needs(t, rings.Change)
	if testing.Short() || invariant.Enabled {
		t.Skip("-short, -race or -tags invariants: this builds a test binary, and the ordinary run does")
	}
	(&mutants.Plan{
		Files: []mutants.File{{Name: "memory.go"}, {Name: "piece.go"}, {Name: "tree.go"}, {Name: "watch.go"}},
		Rules: mutants.Rules{
			Spares:   func(string, string) bool { return false },
			Computes: func(file string) bool { return file != "piece.go" && file != "tree.go" }, // where names are sums, too
			Fields:   []string{"port", "strip", "memory"},
			Returns:  true,
		},
		Stages: []mutants.Stage{
			{Name: "short", Tests: "^(TestEarlyAndHidden|TestChanges|TestAccounts.*|TestNoAccounts|TestSpent.*|TestTaskNames|TestFirstEnd|TestReduction|TestStages|TestTurns|TestEndWithoutBlocks)$", Limit: 10 * time.Second},
			{
				Name: "suite", Tests: ".", Limit: 20 * time.Second,
				Flags: []string{"-test.short", "-test.skip", "^TestMutants$", "-rapid.nofailfile", "-rapid.seed=1"},
			},
		},
		Telling: telling, Turn: 3,
		Page: "testdata/survivors.md",
	}).Run(t, *mutantTrial)
}
