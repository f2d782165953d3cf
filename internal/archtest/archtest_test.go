package archtest

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
)

var rewrite = flag.Bool("rewrite", false, "write the reports of the planted violations anew")

// TestModule holds the line for the module itself, and for the laboratory.
func TestModule(t *testing.T) {
	rings.Computes(t)
	if lines := report(t, filepath.Join("..", "..")); lines != "" {
		t.Errorf("the module breaks its rules:\n%s", lines)
	}
}

// TestPlantedViolations gives each tree in testdata to the rules. Its file want
// is the exact report.
func TestPlantedViolations(t *testing.T) {
	wants, err := filepath.Glob(filepath.Join("testdata", "*", "want"))
	if err != nil || len(wants) == 0 {
		t.Fatalf("no planted violation: %v", err)
	}
	for _, want := range wants {
		dir := filepath.Dir(want)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			got := report(t, dir)
			if *rewrite {
				if err := os.WriteFile(want, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			text, err := os.ReadFile(want)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(text) {
				t.Errorf("reported:\n%s\nwant:\n%s", got, text)
			}
			if good := filepath.Base(dir) == "good"; good != (got == "") {
				t.Errorf("only the good tree is without a violation; this one has:\n%s", got)
			}
		})
	}
}

// TestEveryRuleCanFail asks for a planted violation of each rule.
func TestEveryRuleCanFail(t *testing.T) {
	rings.Computes(t)
	wants, err := filepath.Glob(filepath.Join("testdata", "*", "want"))
	if err != nil {
		t.Fatal(err)
	}
	var planted strings.Builder
	for _, want := range wants {
		text, err := os.ReadFile(want)
		if err != nil {
			t.Fatal(err)
		}
		planted.Write(text)
	}
	for _, name := range []string{"import", "goroutine", "clock", "spin", "random", "global", "name", "doc", "sleep"} {
		if !strings.Contains(planted.String(), "["+name+"]") {
			t.Errorf("no tree in testdata breaks the rule %q", name)
		}
	}
}

// TestTablePointsDown checks the table itself: each row names only rows above
// it, so that no set of rows can allow a cycle or an import pointing up.
func TestTablePointsDown(t *testing.T) {
	above := make(map[string]bool)
	for _, l := range slices.Concat(layers, laboratory) {
		if above[l.path] {
			t.Errorf("%s has two rows", l.path)
		}
		below := strings.Fields(l.imports + " " + l.testsOf)
		for _, path := range below {
			if path != anything && !above[path] {
				t.Errorf("the row of %s names %s, which has no row above it", l.path, path)
			}
		}
		above[l.path] = true
	}
	for prefix, owner := range owners {
		if row(owner) == nil {
			t.Errorf("the owner of %s is %s, which has no row", prefix, owner)
		}
	}
}

// report is what the rules find in the module below root, a line each, and then in its laboratory.
func report(t *testing.T, root string) (all string) {
	t.Helper()
	for _, at := range []string{".", "lab"} {
		below := filepath.Join(root, at)
		if !isModule(below) && at != "." {
			continue
		}
		found, err := check(below, at)
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, v := range found {
			lines = append(lines, v.String()+"\n")
		}
		slices.Sort(lines)
		all += strings.Join(lines, "")
	}
	return all
}
