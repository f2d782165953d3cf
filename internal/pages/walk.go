package pages

import (
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Of are the pages of the module whose root is the folder root: its files that end with .md.
func Of(root string) (all []string, err error) {
	err = walk(root, func(path string) error {
		if filepath.Ext(path) == ".md" {
			all = append(all, path)
		}
		return nil
	})
	return all, err
}

// Documents are the files doc.go of a module, in which packages say what they are for.
func Documents(root string) (all []string, err error) {
	err = walk(root, func(path string) error {
		if filepath.Base(path) == "doc.go" {
			all = append(all, path)
		}
		return nil
	})
	return all, err
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

// Links are the targets of a page's links that are in this repository.
func Links(text string) (all []string) {
	for _, block := range Blocks(text) {
		text = strings.Replace(text, block.Code, "", 1)
	}
	for _, m := range linked.FindAllStringSubmatch(text, -1) {
		if to := m[1] + m[2]; !strings.Contains(to, "://") && !strings.HasPrefix(to, "mailto:") {
			all = append(all, to)
		}
	}
	return all
}

// Leads says what is wrong unless there is what a page's link names.
func Leads(page, link string) error {
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
