package membership

import (
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/mutants"
	"github.com/orwl/go-orwl/internal/rings"
)

var mutantTrial = mutants.Flags("membership")

// telling are the mutants that a change tries: each part of the rule of quorums, and what
// a chair learns of the one before, which lives come in, which of two members stays, and what parked lives promise.
var telling = []string{
	"epoch.go Epoch.all: e.Has(i) && !of[i] && !gone(i): without the second",
	"epoch.go Epoch.quorum: 2*there == members && of[e.Chair()]: without the second",
	"member.go Member.believe: m.learn(i, s, m.sure(i)): dropped",
	"member.go Member.offered: m.taken, m.seats = in.Ballot, in.Seats: dropped",
	"member.go Member.gone: m.view[node].certain() && !m.doubts[node]: without the second",
	"chair.go Member.answered: m.epoch.later(in.Taken, m.best): never",
	"chair.go Member.next: !m.settled(): never",
	"chair.go Member.known: m.epoch.Has(i) && m.near[node][i] != m.joining[node].Life: never",
	"chair.go Member.accepted: !m.quorum(m.answers) || m.admits(m.offer) && !m.all(m.answers): without the second",
	"chair.go Member.admitted: !m.all(m.agree): never",
	"parked.go Parked.answer: p.promised, p.turn = in.Ballot, follows: dropped",
	"parked.go Parked.answer: p.past.Taken, p.past.Accepted = in.Ballot, in.Seats: dropped",
	"parked.go Parked.Turns: clear(p.answers): dropped",
}

// TestMutants makes one small mistake at a time, and expects the tests to notice.
func TestMutants(t *testing.T) {
	rings.Needs(t, rings.Change)
	(&mutants.Plan{
		Files: []mutants.File{{Name: "member.go"}, {Name: "chair.go"}, {Name: "epoch.go"}, {Name: "parked.go"}},
		Rules: mutants.Rules{
			Spares:      func(string, string) bool { return false },
			SparedCalls: []string{"Sometimes"},
			Computes:    func(string) bool { return true },
			Returns:     true,
		},
		Stages: []mutants.Stage{
			{Name: "tables", Tests: ".", Flags: []string{"-test.skip", "^Test(Mutants|EverySchedule|EveryVote|Seeds)$"}, Limit: 30 * time.Second},
			{Name: "seeds", Tests: "^Test(EveryVote|Seeds)$", Flags: []string{"-membership.seeds", "3000"}, Limit: 30 * time.Second},
			{Name: "every schedule", Tests: "^TestEverySchedule$", Flags: []string{"-membership.wide", "1"}, Limit: 20 * time.Second, Long: true},
		},
		Telling: telling, Turn: 2, Page: "testdata/survivors.md",
	}).Run(t, *mutantTrial)
}
