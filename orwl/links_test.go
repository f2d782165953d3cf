package orwl_test

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLinks follows the links between the pages, and from pages to files and headings.
func TestLinks(t *testing.T) {
	for _, page := range pages(t) {
		if filepath.Ext(page) != ".md" {
			continue
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, to := range links(string(text)) {
			if err := leads(page, to); err != nil {
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
	for _, page := range pages(t) {
		if filepath.Base(page) != "README.md" || !strings.HasPrefix(page, docs) {
			continue
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, to := range links(string(text)) {
			path, _, _ := strings.Cut(to, "#")
			on[filepath.Join(filepath.Dir(page), filepath.FromSlash(path))] = true
		}
	}
	for _, page := range pages(t) {
		if strings.HasPrefix(page, docs+string(filepath.Separator)) && filepath.Ext(page) == ".md" &&
			page != filepath.Join(docs, "README.md") && !on[page] && !on[filepath.Dir(page)] {
			t.Errorf("%s is not on the map, docs/README.md", filepath.ToSlash(page))
		}
	}
}

var linked = regexp.MustCompile(`\]\(([^)\s]+)\)|<(?:img|a)[^>]* (?:src|href)="([^"]+)"`)

// links are the targets of a page's links that are in this repository.
func links(text string) (all []string) {
	for _, block := range blocks(text) {
		text = strings.Replace(text, block.code, "", 1)
	}
	for _, m := range linked.FindAllStringSubmatch(text, -1) {
		if to := m[1] + m[2]; !strings.Contains(to, "://") && !strings.HasPrefix(to, "mailto:") {
			all = append(all, to)
		}
	}
	return all
}

// leads reports whether there is what a page's link names.
func leads(page, link string) error {
	to, err := url.Parse(link)
	if err != nil {
		return err
	}
	target := page
	if to.Path != "" {
		target = filepath.Join(filepath.Dir(page), filepath.FromSlash(to.Path))
	}
	if _, err := os.Stat(target); err != nil {
		return fmt.Errorf("the link %s leads nowhere: %w", link, err)
	}
	if to.Fragment == "" {
		return nil
	}
	text, err := os.ReadFile(target)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		if title, heading := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); heading && strings.HasPrefix(line, "#") && anchor(title) == to.Fragment {
			return nil
		}
	}
	return fmt.Errorf("the link %s leads to no heading", link)
}

var noAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

// anchor is the name by which a link finds a heading.
func anchor(title string) string {
	return strings.ReplaceAll(noAnchor.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), ""), " ", "-")
}

// TestLinksLead plants links that lead nowhere.
func TestLinksLead(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	text := "# A page's `title`\n\n[a](page.md) [b](https://c.d) ![e](f.svg)\n\n```\n[g](h)\n```\n<img src=\"i.svg\" alt=\"\">\n"
	if err := os.WriteFile(page, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(links(text), " "); got != "page.md f.svg i.svg" {
		t.Errorf("the links are %s", got)
	}
	for link, good := range map[string]bool{
		"page.md": true, "#a-pages-title": true, "page.md#a-pages-title": true,
		"other.md": false, "#title": false, "page.md#another": false,
	} {
		if err := leads(page, link); (err == nil) != good {
			t.Errorf("%s: %v", link, err)
		}
	}
}
