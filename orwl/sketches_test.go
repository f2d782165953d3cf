package orwl_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/pages"
)

// TestSketches reads the Go in package comments that TestListings does not run, since it leaves out
// what would make it whole. Each name of a package of this module, and each field, must be there.
func TestSketches(t *testing.T) {
	run := withListings(t)
	documents, err := pages.Documents("..")
	if err != nil {
		t.Fatal(err)
	}
	names := pages.NewNames("..")
	found := 0
	for _, path := range documents {
		if slices.Contains(run, strings.TrimPrefix(path, "../orwl/")) || slices.Contains(run, path) {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range pages.Comments(string(text)) {
			if b.Fence != "go" {
				continue
			}
			found++
			if err := names.Sketch(b.Code, filepath.Dir(path)); err != nil {
				t.Errorf("%s:%d: %v", filepath.ToSlash(path), b.Line, err)
			}
		}
	}
	if found < 15 {
		t.Errorf("only %d sketches are found", found)
	}
}
