package plan

import (
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/mutants"
	"github.com/orwl/go-orwl/internal/rings"
)

var trial = mutants.Flags("plan")

// telling are the mutants that a change tries.
var telling = []string{
	"plan.go draft.find: d.alike(q): always",
	"plan.go draft.alike: n == Open || n != d.task(q[0]).Rounds: without the first",
	"plan.go draft.nearest: d.waits(q, i, j): dropped",
	"plan.go draft.waits: j >= i: off by one",
	"plan.go draft.find: d.ahead(t, task.Ahead): dropped",
	"plan.go Condition.Met: done+c.Lag() >= k: off by one",
	"period.go newCircuits: ends++: dropped",
	"plan.go draft.nearest: d.elsewhere(a, q[writer]): never",
	"nodes.go draft.elsewhere: d.task(x).Node != d.task(y).Node: turned round",
}

// TestMutants makes one small mistake at a time in the conditions, and expects the tests to notice.
func TestMutants(t *testing.T) {
	rings.Needs(t, rings.Change)
	(&mutants.Plan{
		Files: []mutants.File{{Name: "plan.go", Tests: "."}, {Name: "period.go", Tests: "Period"}, {Name: "nodes.go", Tests: "Node|Uses"}},
		Rules: mutants.Rules{
			Spares:      func(string, string) bool { return false },
			Computes:    func(string) bool { return false }, // TestEachConditionCounts shifts each by a round
			Returns:     true,
			SparedCalls: []string{"Check"},
		},
		Stages: []mutants.Stage{
			{Name: "tests", Tests: "%s", Flags: []string{"-test.skip", "^TestMutants$", "-plan.seeds", "1000", "-plan.nodeseeds", "20"}, Limit: 30 * time.Second},
		},
		Telling: telling, Turn: 3, Page: "testdata/survivors.md",
	}).Run(t, *trial)
}
