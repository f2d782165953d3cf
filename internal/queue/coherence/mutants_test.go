package coherence

import (
	"regexp"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/mutants"
	"github.com/orwl/go-orwl/internal/rings"
)

var trial = mutants.Flags("coherence")

// telling are the mutants that a change tries.
var telling = []string{
	"guest.go Home.release: found == nil || h.guests[*found].state != told || h.guests[*found].fen...: without the second",
	"mirror_step.go Mirror.Step: m.Fence == r.wrote: always",
	"mirror_step.go Mirror.take: r.known != m.Version+1: never",
	"home.go Home.fill: p.known == version: always",
	"wire.go Message.number: m.Seq <= got: never",
	"home.go Home.admit: m.Incarnation == p.incarnation && p.lost: never",
	"loss.go Home.drop: h.ledger.Lose(g.mode): dropped",
	"buffer.go Buffer.Own: b.replace(): dropped",
	"wire.go Turns.Take: err = step(&k): dropped",
}

// stages are the tests of this package, and then the tests of whole sites.
var stages = []mutants.Stage{
	{Name: "suite", Tests: ".", Flags: []string{"-test.short", "-rapid.nofailfile", "-rapid.seed=1", "-coherence.seeds=300", "-test.skip", "^(TestMutants|TestProtocolChaosRapid)$"}, Limit: 30 * time.Second},
	{Name: "sites", Package: "..", Tests: ".", Flags: []string{"-test.short", "-rapid.nofailfile", "-rapid.seed=1", "-resource.nodeseeds=300"}, Limit: time.Minute},
	{Name: "more seeds", Tests: "^TestProtocolChaos$", Flags: []string{"-coherence.seeds=3000"}, Limit: time.Minute},
	{Name: "seeds of sites", Package: "..", Tests: "^TestRareStatesOfSites$", Flags: []string{"-resource.rareseeds=3000"}, Limit: 2 * time.Minute, Long: true},
}

// TestMutants makes one small mistake at a time in the protocol, and expects the tests to
// notice. A mutant that they do not notice is explained in
// testdata/survivors.md.
func TestMutants(t *testing.T) {
	rings.Needs(t, rings.Change)
	(&mutants.Plan{
		Files: []mutants.File{
			{Name: "home.go"}, {Name: "guest.go"}, {Name: "loss.go"},
			{Name: "mirror.go"}, {Name: "mirror_step.go"},
			{Name: "wire.go"}, {Name: "message.go"}, {Name: "request.go"},
			{Name: "buffer.go"}, {Name: "ledger.go"},
		},
		Rules: mutants.Rules{
			Spares:      func(_, function string) bool { return spared.MatchString(function) },
			Computes:    func(string) bool { return true },
			SparedCalls: []string{"Check", "Sometimes"},
			Fields:      []string{"Message", "Operation", "Event", "Stamp", "guest", "peer", "request"},
			Returns:     true,
		},
		Stages: stages, Telling: telling, Turn: 3, Page: "testdata/survivors.md",
	}).Run(t, *trial)
}

// spared are the functions that make texts.
var spared = regexp.MustCompile(`^(String|nameOf|malformed|unknown|spoilt)$`)
