package versions

import (
	"regexp"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/internal/mutants"
	"github.com/orwl/go-orwl/internal/rings"
)

var trial = mutants.Flags("versions")

// telling are the mutants that a change tries.
var telling = []string{
	"node.go Node.findReaders: read.heard = true: dropped",
	"step.go Node.rest: n.writers.Add(-1): dropped",
	"step.go Node.Released: size != r.size: never",
	"outbox.go link.note: l.version = version: dropped",
	"outbox.go link.report: h.round >= l.reports[i].round: always",
	"outbox.go link.sends: l.waits && l.n < mostInFlight: without the second",
	"outbox.go link.pass: l.base, l.version = l.sent, l.sent: dropped",
	"take.go Node.take: r.version < e.base: never",
	"take.go Node.apply: r.version != e.base: never",
	"take.go Node.apply: r.version = e.version: dropped",
	"take.go Node.apply: l != e.link: always",
	"take.go Node.apply: e.link.mustAnswer(e.version, w): dropped",
	"take.go resource.write: from = from[copy(b[s.Off:s.Off+s.Len], from):]: dropped",
	"message.go parser.report: h.version() <= e.base && h.state == Goes: never",
}

// spared are the functions that make texts.
var spared = regexp.MustCompile(`^(Version\.String|MessageError\.(Error|Unwrap)|parser\.refuse|Node\.refuse)$`)

// TestMutants makes one small mistake at a time in the protocol, and expects the tests to notice.
func TestMutants(t *testing.T) {
	rings.Needs(t, rings.Change)
	if invariant.Enabled || rings.Repeated() {
		t.Skip("this builds test binaries of its own, and the ordinary run does")
	}
	(&mutants.Plan{
		Files: []mutants.File{{Name: "node.go"}, {Name: "step.go"}, {Name: "outbox.go"}, {Name: "take.go"}, {Name: "message.go"}, {Name: "spans.go"}},
		Rules: mutants.Rules{
			Spares:      func(_, function string) bool { return spared.MatchString(function) },
			Computes:    func(string) bool { return false },
			SparedCalls: []string{"Check", "Sometimes", "Lock", "Unlock"},
			Returns:     true,
		},
		Stages: []mutants.Stage{
			{Name: "tests", Tests: ".", Flags: []string{"-test.failfast", "-test.skip", "^TestMutants$", "-versions.seeds", "150", "-versions.share", "200"}, Limit: time.Minute},
			{Name: "more seeds", Tests: "^(TestRandom|TestEverySmallProgram)$", Flags: []string{"-test.failfast", "-versions.seeds", "10000", "-versions.share", "20"}, Limit: 4 * time.Minute, Long: true},
		},
		Telling: telling, Turn: 3,
	}).Run(t, *trial)
}
