package orwl_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/pages"
)

// TestLinks follows the links between the pages, and from pages to files and headings.
func TestLinks(t *testing.T) {
	for _, page := range withListings(t) {
		if filepath.Ext(page) != ".md" {
			continue
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, to := range pages.Links(string(text)) {
			if err := pages.Leads(page, to); err != nil {
				t.Errorf("%s: %v", filepath.ToSlash(page), err)
			}
		}
	}
}

// TestMap looks for each page of docs on the map, docs/README.md. A folder's pages may be on the
// folder's own README.md, or the folder on the map.
func TestMap(t *testing.T) {
	docs := filepath.Join("..", "docs")
	on := make(map[string]bool)
	for _, page := range withListings(t) {
		if filepath.Base(page) != "README.md" || !strings.HasPrefix(page, docs) {
			continue
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, to := range pages.Links(string(text)) {
			path, _, _ := strings.Cut(to, "#")
			on[filepath.Join(filepath.Dir(page), filepath.FromSlash(path))] = true
		}
	}
	for _, page := range withListings(t) {
		if strings.HasPrefix(page, docs+string(filepath.Separator)) && filepath.Ext(page) == ".md" &&
			page != filepath.Join(docs, "README.md") && !on[page] && !on[filepath.Dir(page)] {
			t.Errorf("%s is not on the map, docs/README.md", filepath.ToSlash(page))
		}
	}
}
