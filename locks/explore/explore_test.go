package explore_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/locks/explore"
	"github.com/orwl/go-orwl/locks/lockstest"
)

func spec(t *testing.T, name string) locks.Spec {
	t.Helper()
	s, ok := locks.ByName(name)
	if !ok {
		t.Fatalf("there is no lock %s", name)
	}
	return s
}

// broken is a row of the table with a defect.
func broken(t *testing.T, name string) explore.Lock {
	t.Helper()
	all := lockstest.Broken()
	b := all[slices.IndexFunc(all, func(b lockstest.Specimen) bool { return b.Name == name })]
	return explore.Lock{Subject: b.Break(lockstest.Of(spec(t, b.Of))), Command: "again"}
}

// Each play has a name of its own, and each kind is there for a lock that has all features.
func TestNames(t *testing.T) {
	rings.Computes(t)
	kinds := make(map[explore.Kind]bool)
	for _, s := range locks.All() {
		seen := make(map[string]bool)
		for _, p := range explore.Plays(explore.Of(s), explore.Setting{Ranks: 256}) {
			if seen[p.Name] {
				t.Errorf("%s has two plays %s", s.Name, p.Name)
			}
			if !strings.HasPrefix(p.Name, string(p.Kind)+"/") || strings.Contains(p.Name, " ") {
				t.Errorf("%s: the play %q of kind %s", s.Name, p.Name, p.Kind)
			}
			seen[p.Name], kinds[p.Kind] = true, true
		}
	}
	for _, kind := range []explore.Kind{explore.States, explore.Crash, explore.Cancel, explore.CancelCrash, explore.Try, explore.Leave,
		explore.Seeds, explore.Crashes, explore.Large, explore.Mixed, explore.Case, explore.Fair} {
		if !kinds[kind] {
			t.Errorf("no lock has a play of kind %s", kind)
		}
	}
}

// A play of each sort finds a defect. The command that it prints names the play and the run, which repeats the failure.
func TestFindsAndRepeats(t *testing.T) {
	rings.Computes(t)
	for name, kind := range map[string]explore.Kind{
		"no-lock": explore.Seeds, "unflushed-hand-over": explore.States, "survives": explore.Crashes, "plain-error": explore.Crash,
		"loses-late-grant": explore.Cancel, "try-succeeds": explore.Mixed, "counts-no-passing": explore.Case, "barging": explore.Fair,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, p := range explore.Plays(broken(t, name), explore.Setting{}) {
				if p.Kind != kind {
					continue
				}
				r := p.Run(explore.Budget{States: 2000, Seeds: 100})
				if r.Failure == nil {
					continue
				}
				rest, named := strings.CutPrefix(r.Failure.Command, "again -play "+p.Name)
				again := p.Seed(0)
				if schedule, searched := strings.CutPrefix(rest, " -schedule "); searched {
					again, _ = p.Replay(schedule)
				} else if seed, drawn := strings.CutPrefix(rest, " -seed "); drawn {
					n, _ := strconv.ParseUint(seed, 10, 64)
					again = p.Seed(n)
				}
				if !named || again.Failure == nil || again.Failure.Err.Error() != r.Failure.Err.Error() {
					t.Errorf("%q does not repeat %v: %v", r.Failure.Command, r.Failure.Err, again.Err())
				}
				return
			}
			t.Errorf("no play of kind %s finds it", kind)
		})
	}
}

// A search says whether it has visited all states, and a play ends where its caller wants.
func TestBudget(t *testing.T) {
	rings.Computes(t)
	for _, p := range explore.Plays(explore.Of(spec(t, "MCS")), explore.Setting{}) {
		switch p.Kind {
		case explore.Try:
			if r := p.Run(explore.Budget{States: 100}); r.Complete || !p.Searches() {
				t.Errorf("%s visits 100 states, and says that these are all", p.Name)
			}
		case explore.Seeds:
			if r := p.Run(explore.Budget{Seeds: 7}); r.Runs != 7 || !r.Complete || p.Searches() {
				t.Errorf("%s plays %d of 7 seeds (all: %t)", p.Name, r.Runs, r.Complete)
			}
		}
	}
}

// A setting is the machine and the number of acquisitions of all games. A lock whose options are fixed plays no bound: the
// comparison chooses its own.
func TestSetting(t *testing.T) {
	rings.Computes(t)
	l := explore.Of(spec(t, "HMCS"))
	l.Fixed = &locks.Options{TL: []int{1, 2}}
	for _, p := range explore.Plays(l, explore.Setting{Acquisitions: 1}) {
		if p.Kind == explore.Fair || p.Kind == explore.Case {
			t.Errorf("a lock with fixed options plays %s", p.Name)
		}
	}
}
