package launch

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Every variable is described where people look for it.
func TestVariablesAreDescribed(t *testing.T) {
	for _, file := range []string{"doc.go", filepath.Join("..", "..", "docs", "reference", "running.md")} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range slices.Concat(ownVariables, sameVariables) {
			if !strings.HasSuffix(name, "_FD") && !strings.Contains(string(text), name) {
				t.Errorf("%s does not mention %s", file, name)
			}
		}
		for _, name := range regexp.MustCompile(`ORWL_[A-Z_]+`).FindAllString(string(text), -1) {
			if !slices.Contains(slices.Concat(ownVariables, sameVariables), name) {
				t.Errorf("%s mentions %s, which there is not", file, name)
			}
		}
	}
}
