package claims

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/internal/rings"
)

var (
	search = flag.Bool("claims.search", false, "TestChanges: look for a change that makes each claim fail, and write testdata/changes.txt")
	parts  = flag.String("claims.part", "1/1", "TestChanges: take the K/N-th part of the figures")
)

const testsFile = "testdata/changes.txt"

// part are the studies of a part.
func part(t *testing.T) (chosen []Study) {
	var k, n int
	if _, err := fmt.Sscanf(*parts, "%d/%d", &k, &n); err != nil {
		t.Fatal(err)
	}
	for i, s := range Studies() {
		if i%n == k-1 {
			chosen = append(chosen, s)
		}
	}
	return chosen
}

// TestChanges plays each claim with the change that the file names, and expects the claim to hold without it and to fail with it.
func TestChanges(t *testing.T) {
	rings.Needs(t, rings.Night)
	if invariant.Enabled || rings.Repeated() {
		t.Skip("this takes minutes, and the ordinary run does it")
	}
	if *search {
		writeTests(t)
		return
	}
	tests := Tests()
	for _, s := range part(t) {
		t.Run(s.Figure, func(t *testing.T) {
			t.Parallel()
			without, err := s.play(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			with := make(map[string]Data)
			for _, test := range tests {
				if test.Figure != s.Figure {
					continue
				}
				if _, ok := with[test.Change]; !ok {
					change, _ := ChangeByName(test.Change)
					if with[test.Change], err = s.changed(t.Context(), change, without); err != nil {
						t.Fatal(err)
					}
				}
				claim := claimOf(t, s, test)
				changed := with[test.Change]
				if came, holds := claim.Judge(&without); !holds {
					t.Errorf("%q does not hold: %s", claim.Text, came)
				} else if came, holds := claim.Judge(&changed); holds {
					t.Errorf("%q holds although %s: %s", claim.Text, test.Change, came)
				}
			}
		})
	}
}

func claimOf(t *testing.T, s Study, test Test) Claim {
	i := slices.IndexFunc(s.Claims, func(c Claim) bool { return c.Text == test.Claim })
	if i < 0 {
		t.Fatalf("%s has no claim %q", s.Figure, test.Claim)
	}
	return s.Claims[i]
}

// writeTests writes what a search finds, after each figure. The figures of other parts stay as they are.
func writeTests(t *testing.T) {
	all := Tests()
	for _, s := range part(t) {
		found, untested, err := Search(t.Context(), []Study{s}, nil)
		if err != nil {
			t.Fatal(err)
		}
		all = append(found, slices.DeleteFunc(all, func(old Test) bool { return old.Figure == s.Figure })...)
		text, _, _ := strings.Cut(changesFile, "\n")
		text += "\n"
		for _, s := range Studies() {
			for _, c := range s.Claims {
				for _, test := range all {
					if test.Figure == s.Figure && test.Claim == c.Text {
						text += test.String() + "\n"
					}
				}
			}
		}
		if err := os.WriteFile(testsFile, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, u := range untested {
			t.Logf("not tested: %s: %s", u.Figure, u.Claim)
		}
	}
}

// TestTestsAreOfClaims checks that each line of the file names a figure, a claim of it and a change.
func TestTestsAreOfClaims(t *testing.T) {
	studies := Studies()
	lines := 0
	for _, test := range Tests() {
		lines++
		i := slices.IndexFunc(studies, func(s Study) bool { return s.Figure == test.Figure })
		if i < 0 {
			t.Errorf("there is no figure %q", test.Figure)
			continue
		}
		claimOf(t, studies[i], test)
		if _, ok := ChangeByName(test.Change); !ok {
			t.Errorf("there is no change %q", test.Change)
		}
	}
	if lines < 90 {
		t.Errorf("only %d claims have a test", lines)
	}
}

// TestUntestedIsSaid judges a claim that holds and for which no change is known, and one for which there is.
func TestUntestedIsSaid(t *testing.T) {
	if got := (Row{Holds: true}).tested(); got != "not tested" {
		t.Errorf("a claim without a change is %q", got)
	}
	if got := (Row{Holds: true, Broken: "near"}).tested(); !strings.Contains(got, "other nodes are as near") {
		t.Errorf("a claim with a change is %q", got)
	}
	if got := count([]Row{{Holds: true}, {Holds: true, Broken: "near"}, {}}); !strings.HasPrefix(got, "2 of 3 claims hold, and 1 of these are not tested") {
		t.Errorf("the count is %q", got)
	}
}
