package lives

import (
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/mutants"
	"github.com/orwl/go-orwl/internal/rings"
)

var tried = mutants.Flags("lives")

// telling are the mutants that a change tries.
var telling = []string{
	"keeper.go Keeper.completed: k.life.Nodes > 1: never",
	"keeper.go Keeper.current: k.began && of.Life == k.life.Number: without the second",
	"keeper.go Keeper.current: k.began && of.Life == k.life.Number && of.Run == k.life.Run: without the second",
	"keeper.go Keeper.Asks: p.Run == m.Run && p.Round < m.Round && p.Round != m.Most: without the second",
	"keeper.go Keeper.Asks: m.Kind != Ask || !k.current(m.Key): without the second",
	"keeper.go Keeper.Asking: k.chair.asked > 0 || furthest == End: without the second",
}

// TestMutants makes mistakes in the protocol one at a time, and expects a test to notice.
func TestMutants(t *testing.T) {
	rings.Needs(t, rings.Change)
	(&mutants.Plan{
		Files: []mutants.File{{Name: "keeper.go"}, {Name: "cut.go"}, {Name: "end.go"}},
		Rules: mutants.Rules{
			Spares:      func(string, string) bool { return false },
			SparedCalls: []string{"Sometimes"},
			Computes:    func(string) bool { return true },
			Returns:     true,
		},
		Stages: []mutants.Stage{
			{Name: "tests", Tests: ".", Flags: []string{"-lives.seeds", "5000", "-test.skip", "^TestMutants$"}, Limit: 30 * time.Second},
			{Name: "more seeds", Tests: "^TestSeeds$", Flags: []string{"-lives.seeds", "150000"}, Limit: time.Minute},
		},
		Telling: telling, Turn: 1, Page: "testdata/survivors.md",
	}).Run(t, *tried)
}
