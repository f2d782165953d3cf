package stencil

import (
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/internal/mutants"
	"github.com/orwl/go-orwl/internal/repeat"
)

var mutantTrial = mutants.Flags("stencil")

// TestMutants makes one small mistake at a time in what a pass does, and expects the tests to
// notice: go test ./orwl/stencil -run TestMutants -stencil.mutants 1 -timeout 1h. docs/decisions/stencil-mutants.md explains those that they do not notice.
func TestMutants(t *testing.T) {
	repeat.Skip(t)
	if testing.Short() || invariant.Enabled {
		t.Skip("-short, -race or -tags invariants: this builds a test binary, and the ordinary run does")
	}
	if mutantTrial.Stages == 0 && mutantTrial.Only == "" {
		t.Skip("without -stencil.mutants 1 it tries none")
	}
	(&mutants.Plan{
		Files: []mutants.File{{Name: "memory.go"}, {Name: "stage.go"}, {Name: "watch.go"}},
		Rules: mutants.Rules{
			Spares:   func(string, string) bool { return false },
			Computes: func(file string) bool { return file != "stage.go" }, // where names are sums, too
			Fields:   []string{"port", "strip", "memory", "Change"},
			Returns:  true,
		},
		Stages: []mutants.Stage{{
			Name: "suite", Tests: ".", Limit: 20 * time.Second,
			Flags: []string{"-test.short", "-test.skip", "^(TestMutants|TestKill|TestFullDisk|TestLateCheckpoints|TestDamage)$", "-rapid.nofailfile", "-rapid.seed=1"},
		}},
		Page: "../../docs/decisions/stencil-mutants.md",
	}).Run(t, *mutantTrial)
}
