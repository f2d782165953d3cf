package ring

import (
	"regexp"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/mutants"
	"github.com/orwl/go-orwl/internal/rings"
)

var trial = mutants.Flags("ring")

// telling are the mutants that a change tries: both sides of the handshake.
var telling = []string{
	"ring.go Writer.Rings: w.rung = now: dropped",
	"ring.go Writer.Write: w.written.Store(w.at): dropped",
	"ring.go Reader.Read: r.read.Store(r.at): dropped",
	"attention.go Attention.leave: a.word.Add(1): dropped",
	"attention.go Attention.Begin: a.word.Add(1): dropped",
}

// spared are the probes. TestRaceDetectorSees tests the calls that only the race detector needs.
var spared = regexp.MustCompile(`^steps\.`)

// TestMutants makes one small mistake at a time, and expects the tests to notice.
func TestMutants(t *testing.T) {
	rings.Needs(t, rings.Change)
	(&mutants.Plan{
		Files: []mutants.File{{Name: "ring.go"}, {Name: "attention.go"}},
		Rules: mutants.Rules{
			Spares:      func(_, function string) bool { return spared.MatchString(function) },
			SparedCalls: []string{"point", "saw", "releases", "acquires"},
			Computes:    func(string) bool { return true },
			Returns:     true,
		},
		Tags: "invariants",
		Stages: []mutants.Stage{
			{Name: "tables", Tests: ".", Flags: []string{"-test.skip", "^Test(Mutants|Exhaust|Broken|Seeds)$", "-rapid.nofailfile"}, Limit: 30 * time.Second},
			{Name: "seeds", Tests: "^Test(Exhaust|Seeds)$", Flags: []string{"-ring.seeds", "2000", "-ring.states", "2000"}, Limit: 30 * time.Second},
		},
		Telling: telling, Turn: 1, Page: "testdata/survivors.md",
	}).Run(t, *trial)
}
