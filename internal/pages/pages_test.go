package pages

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLinksLead plants links that lead nowhere.
func TestLinksLead(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	text := "# A page's `title`\n\n[a](page.md) [b](https://c.d) ![e](f.svg)\n\n```\n[g](h)\n```\n<img src=\"i.svg\" alt=\"\">\n"
	if err := os.WriteFile(page, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(Links(text), " "); got != "page.md f.svg i.svg" {
		t.Errorf("the links are %s", got)
	}
	for link, good := range map[string]bool{
		"page.md": true, "#a-pages-title": true, "page.md#a-pages-title": true,
		"other.md": false, "#title": false, "page.md#another": false,
	} {
		if err := Leads(page, link); (err == nil) != good {
			t.Errorf("%s: %v", link, err)
		}
	}
}

// TestSketchRefuses plants sketches of what is not there.
func TestSketchRefuses(t *testing.T) {
	names := NewNames("../..")
	for code, good := range map[string]bool{
		"n, err := p2p.Join(ctx, p2p.Options{Key: key, ...})\n": true,
		"err = s.Shut(ctx)\n":                             true,
		"n, err := p2p.Joins(ctx, p2p.Options{})\n":       false,
		"n, err := p2p.Join(ctx, p2p.Options{Keys: 1})\n": false,
		"n, err := p2p.Join(\n":                           false,
	} {
		if err := names.Sketch(code, "../../orwl"); (err == nil) != good {
			t.Errorf("%q: %v", code, err)
		}
	}
}
