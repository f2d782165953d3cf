package lab_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/orwl/go-orwl/internal/archtest"
	"github.com/orwl/go-orwl/internal/pages"
	"github.com/orwl/go-orwl/internal/prose"
)

// TestHouse holds the laboratory to the rules of the house: what imports what, and which code is pure.
func TestHouse(t *testing.T) {
	found, err := archtest.Laboratory(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range found {
		t.Error(line)
	}
}

// TestPages looks at the sentences and at the links of all pages.
func TestPages(t *testing.T) {
	all, err := pages.Of(".")
	if err != nil || len(all) < 4 {
		t.Fatalf("only %d pages are found: %v", len(all), err)
	}
	for _, page := range all {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range prose.Check(string(text)) {
			t.Errorf("%s:%d: %s\n\t%s", page, f.Line, f.Why, f.Sentence)
		}
		for _, to := range pages.Links(string(text)) {
			if err := pages.Leads(page, to); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
}

// TestSketches looks for the names that package comments show.
func TestSketches(t *testing.T) {
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	all, err := pages.Documents(here)
	if err != nil {
		t.Fatal(err)
	}
	names := pages.NewNames("..", here)
	found := 0
	for _, file := range all {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range pages.Comments(string(text)) {
			if b.Fence != "go" {
				continue
			}
			found++
			if err := names.Sketch(b.Code, filepath.Dir(file)); err != nil {
				t.Errorf("%s:%d: %v", file, b.Line, err)
			}
		}
	}
	if found < 6 {
		t.Errorf("only %d sketches are found", found)
	}
}
