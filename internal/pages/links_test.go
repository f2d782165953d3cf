package pages

import (
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// modules are the roots of the library and of the laboratory.
var modules = []string{"../..", "../../lab"}

// named are the files of a module whose names end so.
func named(t *testing.T, module, end string) (all []string) {
	t.Helper()
	err := walk(module, func(path string) error {
		if strings.HasSuffix(path, end) {
			all = append(all, filepath.ToSlash(path))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// everyPage is all pages of both modules.
func everyPage(t *testing.T) (all []string) {
	t.Helper()
	for i, few := range []int{40, 4} {
		found := named(t, modules[i], ".md")
		if len(found) < few {
			t.Fatalf("only %d pages are found in %s", len(found), modules[i])
		}
		all = append(all, found...)
	}
	return all
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// walk visits the files of a module. It leaves out testdata, folders that begin with a dot, and the laboratory, which is
// a module of its own.
func walk(root string, visit func(path string) error) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !d.IsDir():
			return visit(path)
		case path != root && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") || isLaboratory(path)):
			return fs.SkipDir
		}
		return nil
	})
}

// isLaboratory reports whether a folder is the root of the laboratory.
func isLaboratory(folder string) bool {
	text, err := os.ReadFile(filepath.Join(folder, "go.mod"))
	return err == nil && strings.HasPrefix(string(text), "module github.com/orwl/go-orwl/lab\n")
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

// leads says what is wrong unless there is what a page's link names.
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

// TestLinks follows the links between the pages, and from pages to files and headings.
func TestLinks(t *testing.T) {
	for _, page := range everyPage(t) {
		for _, to := range links(read(t, page)) {
			if err := leads(page, to); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
}

// TestMap looks for each page of docs on the map, docs/README.md. A folder's pages may be on the
// folder's own README.md, or the folder on the map.
func TestMap(t *testing.T) {
	docs := modules[0] + "/docs/"
	on := make(map[string]bool)
	for _, page := range everyPage(t) {
		if path.Base(page) != "README.md" || !strings.HasPrefix(page, docs) {
			continue
		}
		for _, to := range links(read(t, page)) {
			to, _, _ = strings.Cut(to, "#")
			on[path.Join(path.Dir(page), to)] = true
		}
	}
	for _, page := range everyPage(t) {
		if strings.HasPrefix(page, docs) && page != docs+"README.md" && !on[page] && !on[path.Dir(page)] {
			t.Errorf("%s is not on the map, docs/README.md", page)
		}
	}
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
