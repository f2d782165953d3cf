package membership

import (
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/internal/mutants"
	"github.com/orwl/go-orwl/internal/rings"
)

var mutantTrial = mutants.Flags("membership")

// telling are the mutants that each change tries: each part of the rule of quorums, and what
// a chair learns of the one before, and which lives come in.
var telling = []string{
	"member.go Member.all: m.epoch.Has(i) && !of[i] && (!m.view[i].certain() || m.doubts[i]): without the second",
	"member.go Member.quorum: 2*there == members && of[m.epoch.Chair()]: without the second",
	"member.go Member.believe: m.learn(i, s, m.sure(i)): dropped",
	"member.go Member.offered: m.taken, m.seats = in.Ballot, in.Seats: dropped",
	"chair.go Member.answered: m.epoch.later(in.Taken, m.best): never",
	"chair.go Member.next: !m.settled(): never",
	"member.go Member.all: !m.view[i].certain() || m.doubts[i]: without the second",
	"chair.go Member.accepted: !m.quorum(m.answers) || m.admits(m.offer) && !m.all(m.answers): without the second",
	"chair.go Member.admitted: !m.all(m.agree): never",
}

// TestMutants makes one small mistake at a time, and expects the tests to notice.
func TestMutants(t *testing.T) {
	rings.Needs(t, rings.Change)
	if invariant.Enabled || rings.Repeated() {
		t.Skip("this builds test binaries of its own, and the ordinary run does")
	}
	(&mutants.Plan{
		Files: []mutants.File{{Name: "member.go"}, {Name: "chair.go"}, {Name: "epoch.go"}},
		Rules: mutants.Rules{
			Spares:      func(string, string) bool { return false },
			SparedCalls: []string{"Sometimes"},
			Computes:    func(string) bool { return true },
			Returns:     true,
		},
		Stages: []mutants.Stage{
			{Name: "seeds", Tests: ".", Flags: []string{"-test.skip", "^TestMutants$|^TestEverySchedule$", "-membership.seeds", "3000"}, Limit: 10 * time.Second},
			{Name: "every schedule", Tests: "^TestEverySchedule$", Flags: []string{"-membership.wide", "1"}, Limit: 20 * time.Second},
		},
		Telling: telling, Page: "../../../../docs/decisions/membership-mutants.md",
	}).Run(t, *mutantTrial)
}
