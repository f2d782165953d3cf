package books

import (
	"regexp"
	"testing"
	"time"

	"github.com/orwl/go-orwl/internal/mutants"
	"github.com/orwl/go-orwl/internal/rings"
)

// telling are the mutants that a change tries: each side of the two handshakes, and what hangs.
var telling = []string{
	"pool.go book.publish: p.store(&p.counters[c].done, round): dropped",
	"book.go book.hang: p.store(&e.armed, 1): dropped",
	"book.go book.hang: ok || short != n: without the second",
	"book.go book.read: e, edge.waits = edge.next, false: dropped",
	"book.go book.post: b.rise(): dropped",
	"book.go book.sleep: p.store(&b.state, tired): dropped",
	"pool.go Pool.mail: p.books[e.book].post(i): dropped",
}

// spared are the probes, and what only takes time or saves it.
var spared = regexp.MustCompile(`^Pool\.(point|saw|signal|stay|turn)$|^relax$|^book\.took$`)

// TestMutants makes the telling mistakes one at a time, and expects the explorer to notice. All others
// are tried when package orwl runs by the books: see docs/STATUS.md.
func TestMutants(t *testing.T) {
	rings.Needs(t, rings.Change)
	(&mutants.Plan{
		Files: []mutants.File{{Name: "pool.go"}, {Name: "book.go"}, {Name: "bits.go"}},
		Rules: mutants.Rules{
			Spares:      func(_, function string) bool { return spared.MatchString(function) },
			SparedCalls: []string{"point", "saw", "signal", "stay", "turn", "relax", "Inc"},
			Computes:    func(string) bool { return false },
			Returns:     true,
		},
		Tags: "invariants",
		Stages: []mutants.Stage{
			// The explorer comes first: in a test that it does not play, a mutant may go round in a circle until the limit.
			{Name: "seeds", Tests: "^Test(Exhaust|Seeds)$", Flags: []string{"-books.seeds", "3000", "-books.states", "2000"}, Limit: 30 * time.Second},
			{Name: "suite", Tests: ".", Flags: []string{"-test.skip", "^Test(Mutants|Exhaust|Seeds)$"}, Limit: 30 * time.Second},
			{Name: "more seeds", Tests: "^Test(Exhaust|Seeds)$", Flags: []string{"-books.seeds", "100000", "-books.states", "40000"}, Limit: 2 * time.Minute},
		},
		Telling: telling, Turn: 2,
	}).Run(t, mutants.Trial{})
}
