package pages

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// excerpt reports whether the file that the listing is a part of has its lines. A line of
// "// ..." stands for any lines. Indentation may differ.
func (l listing) excerpt(root string) error {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(l.from)))
	if err != nil {
		return fmt.Errorf("%s: %w", l.at(), err)
	}
	rest := "\n" + unindented(string(text))
	for part := range strings.SplitSeq(unindented(l.code), "\n// ...\n") {
		part = strings.Trim(part, "\n")
		_, after, found := strings.Cut(rest, "\n"+part+"\n")
		if !found {
			return fmt.Errorf("%s: %s does not have, in this order:\n%s", l.at(), l.from, part)
		}
		rest = "\n" + after
	}
	return nil
}

// unindented is text without the space at both ends of its lines.
func unindented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimSpace(line) + "\n")
	}
	return b.String()
}

// TestExcerptsDiffer plants excerpts that their file does not have.
func TestExcerptsDiffer(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "a.go"), []byte("package a\n\nfunc f() {\n\tone()\n\n\ttwo()\n\tthree()\n}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for code, has := range map[string]bool{
		"one()\n\ntwo()\n":            true,
		"\tone()\n// ...\n\tthree()":  true,
		"package a\n":                 true,
		"one()\ntwo()\n":              false,
		"two()\n// ...\none()\n":      false,
		"ne()\n":                      false,
		"three()\n}\n\nfunc g() {\n}": false,
	} {
		all, err := listings("page.md", "```go from a.go\n"+code+"\n```\n")
		if err != nil || len(all) != 1 || all[0].from != "a.go" {
			t.Fatalf("%+v, %v", all, err)
		}
		if err := all[0].excerpt(root); (err == nil) != has {
			t.Errorf("%q: %v", code, err)
		}
	}
	if (listing{code: "f()", from: "b.go"}).excerpt(root) == nil {
		t.Error("a file that is not there has a listing")
	}
}
