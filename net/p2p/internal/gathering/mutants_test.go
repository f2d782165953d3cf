package gathering

import (
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/mutants"
	"github.com/orwl/go-orwl/internal/rings"
)

var mutantTrial = mutants.Flags("gathering")

// telling are the mutants that a change tries: what a new chair is told, and what it makes of it.
var telling = []string{
	"member.go Member.takeGift: last.Key.Round >= k.Round: never",
	"member.go Member.takeGift: in.Try < had.try: never",
	"member.go Member.takeGift: is: never",
	"member.go Member.takeAll: delete(m.handed, k): dropped",
	"member.go Member.finish: all.among == nil || all.among[i] == m.epoch.Seats[i].Life: without the second",
	"member.go Member.takeAll: m.before(in, m.me): never",
	"member.go Member.succeed: all.among == nil: never",
}

// TestMutants makes one small mistake at a time, and expects the tests to notice.
func TestMutants(t *testing.T) {
	rings.Needs(t, rings.Change)
	(&mutants.Plan{
		Files: []mutants.File{{Name: "member.go"}},
		Rules: mutants.Rules{
			Spares:      func(string, string) bool { return false },
			SparedCalls: []string{"Sometimes", "Check"},
			Computes:    func(string) bool { return true },
			Returns:     true,
		},
		Stages: []mutants.Stage{
			{Name: "some seeds", Tests: ".", Flags: []string{"-test.skip", "^TestMutants$", "-gathering.seeds", "400"}, Limit: 20 * time.Second},
			{Name: "seeds", Tests: ".", Flags: []string{"-test.skip", "^TestMutants$", "-gathering.seeds", "2000"}, Limit: time.Minute},
		},
		Telling: telling, Turn: 2, Page: "testdata/survivors.md",
	}).Run(t, *mutantTrial)
}
