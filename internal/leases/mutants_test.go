package leases

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/internal/mutants"
	"github.com/orwl/go-orwl/internal/rings"
)

var trial = mutants.Flags("leases")

// telling are the mutants that each change tries: each term of the inequality.
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
	if invariant.Enabled || rings.Repeated() {
		t.Skip("this builds test binaries of its own, and the ordinary run does")
	}
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
		Telling: telling,
	}).Run(t, *trial)
}
