package balance

import (
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/mutants"
	"github.com/orwl/go-orwl/internal/rings"
)

var tried = mutants.Flags("balance")

// telling are the mutants that a change tries.
var telling = []string{
	"shares.go Shares: least = 1: dropped",
	"watch.go Watch.Add: w.windows < leastWindows || w.lost < price: without the first",
	"watch.go Watch.Add: w.windows < leastWindows || w.lost < price: without the second",
	"watch.go Watch.Add: w.Tries = min(w.Tries+1, MostTries): dropped",
	"watch.go loses: (l.Wall-lost)*leastGain > l.Wall*100: never",
}

// TestMutants makes mistakes one at a time, and expects a test to notice.
func TestMutants(t *testing.T) {
	rings.Needs(t, rings.Change)
	(&mutants.Plan{
		Files: []mutants.File{{Name: "shares.go"}, {Name: "watch.go"}},
		Rules: mutants.Rules{
			Spares:   func(string, string) bool { return false },
			Computes: func(file string) bool { return file == "shares.go" }, // the other one has floats
			Returns:  true,
		},
		Stages: []mutants.Stage{
			{Name: "tests", Tests: ".", Flags: []string{"-balance.seeds", "2000", "-test.skip", "^TestMutants$"}, Limit: 30 * time.Second},
		},
		Telling: telling, Turn: 3, Page: "testdata/survivors.md",
	}).Run(t, *tried)
}
