package pages

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

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
