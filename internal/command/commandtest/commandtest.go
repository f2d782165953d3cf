package commandtest

import (
	"flag"
	"os"
	"testing"

	"github.com/google/renameio/v2/maybe"

	"github.com/orwl/go-orwl/internal/command"
)

var rewrite = flag.Bool("rewrite", false, "write the page of commands anew")

// Check checks a program, whose part of the page is in the file.
func Check(t *testing.T, p command.Program, file string) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	page := string(content)
	for _, complaint := range p.Lint(page) {
		t.Error(complaint)
	}
	now := p.Page(page)
	switch {
	case now == page:
	case *rewrite:
		if err := maybe.WriteFile(file, []byte(now), 0o666); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s shows another help of %s: run this test again with -rewrite", file, p.Name)
	}
}
