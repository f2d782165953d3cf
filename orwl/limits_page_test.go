package orwl_test

import (
	"go/token"
	"go/types"
	"os"
	"regexp"
	"strings"
	"testing"
)

var limitRow = regexp.MustCompile("(?m)^\\| [^|]+ \\| ([0-9,]+) \\| `([^`]+)` `([^`]+)` \\|")

// TestLimitsPage compares the numbers of the page with the constants that it names.
func TestLimitsPage(t *testing.T) {
	page, err := os.ReadFile("../docs/reference/limits.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := limitRow.FindAllStringSubmatch(string(page), -1)
	if want := strings.Count(string(page), ".go` `"); len(rows) != want || want == 0 {
		t.Fatalf("%d rows are read, of %d", len(rows), want)
	}
	for _, row := range rows {
		value, file, name := strings.ReplaceAll(row[1], ",", ""), row[2], row[3]
		code, err := os.ReadFile("../" + file)
		if err != nil {
			t.Error(err)
			continue
		}
		constant := regexp.MustCompile(`(?m)^(?:const |\t)` + name + `\s*=\s*([^/\n]+)`).FindSubmatch(code)
		if constant == nil {
			t.Errorf("%s has no constant %s", file, name)
			continue
		}
		is, err := types.Eval(token.NewFileSet(), nil, token.NoPos, strings.TrimSpace(string(constant[1])))
		if err != nil {
			t.Errorf("%s of %s: %v", name, file, err)
		} else if is.Value.ExactString() != value {
			t.Errorf("%s of %s is %s, and the page says %s", name, file, is.Value, row[1])
		}
	}
}
