package leases

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/mutants"
	"github.com/orwl/go-orwl/internal/rings"
)

var easy = Terms{Lease: 1000, Skew: 200}

// TestTerms has the numbers of an easy lease.
func TestTerms(t *testing.T) {
	for what, c := range map[string][2]int64{
		"lets go":  {easy.LetsGo(5000), 5800},
		"gives up": {easy.GivesUp(5000), 6200},
		"notice":   {easy.Notice(), 600},
		"quiet":    {easy.Quiet(), 600},
		"stalls":   {easy.Stalls(5000), 5400},
		"beat":     {int64(easy.MostBeat()), 400},
		"pace":     {int64(easy.Pace(8)), 31},
		"of many":  {int64(easy.Pace(9)), 62},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %d, want %d", what, c[0], c[1])
		}
	}
}

// TestTermsOfAnyLease sees that a notice leaves time for beats before it.
func TestTermsOfAnyLease(t *testing.T) {
	for _, lease := range []time.Duration{10 * time.Millisecond, 1500 * time.Millisecond, time.Hour} {
		for _, skew := range []time.Duration{0, lease / 6, lease / 2} {
			terms := Terms{Lease: lease, Skew: skew}
			if most := int64(terms.MostBeat()); terms.Quiet() < most || terms.Notice() < most {
				t.Errorf("%+v: a peer is quiet after %d, and its notice stands for %d, with a beat of %d", terms, terms.Quiet(), terms.Notice(), most)
			}
		}
	}
}

var trial = mutants.Flags("leases")

// telling are the mutants that a change tries: each term of the inequality.
var telling = []string{
	"terms.go Terms.LetsGo: sent + int64(t.Lease-t.Skew): other sign",
	"terms.go Terms.LetsGo: t.Lease-t.Skew: other sign",
	"terms.go Terms.GivesUp: t.Lease+t.Skew: other sign",
	"terms.go Terms.Notice: t.Lease+t.Skew: other sign",
}

// TestMutants makes one small mistake at a time, and expects the tests of the nodes' leases to
// notice: their TestDrift and TestTenureProof notice mistakes that are not safe.
func TestMutants(t *testing.T) {
	rings.Needs(t, rings.Change)
	(&mutants.Plan{
		Files: []mutants.File{{Name: "terms.go"}},
		Rules: mutants.Rules{
			Spares:   func(string, string) bool { return false },
			Computes: func(string) bool { return true },
			Returns:  true,
		},
		Stages: []mutants.Stage{
			{Name: "play", Package: filepath.Join("..", "..", "net", "p2p", "internal", "lease"), Tests: ".", Flags: []string{"-test.skip", "^TestMutants$", "-lease.seeds", "3000"}, Limit: 20 * time.Second},
			{Name: "sums", Tests: "^TestTerms", Limit: 20 * time.Second},
		},
		Telling: telling, Turn: 2,
	}).Run(t, *trial)
}
