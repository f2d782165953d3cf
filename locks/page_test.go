package locks_test

import (
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/locks"
)

var explained = regexp.MustCompile("\\*\\*`([^`]+)`\\*\\*")

// TestPage compares the page that explains each lock with the table.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../docs/explanation/locks.md")
	if err != nil {
		t.Fatal(err)
	}
	var names, shown []string
	for _, s := range locks.All() {
		names = append(names, s.Name)
	}
	for _, m := range explained.FindAllStringSubmatch(string(page), -1) {
		name := m[1]
		if slices.Contains(shown, name) {
			t.Errorf("locks.md explains %s twice", name)
		}
		if !slices.Contains(names, name) {
			t.Errorf("locks.md explains %s, and the table has no such row", name)
		}
		shown = append(shown, name)
	}
	for _, name := range names {
		if !slices.Contains(shown, name) {
			t.Errorf("locks.md does not explain %s: what it promises, when to take it, and its paper", name)
		}
	}
}

// TestWaitersThatStay compares the page that says which waiters do not give up with the table. A
// name on the page may be a pattern.
func TestWaitersThatStay(t *testing.T) {
	page, err := os.ReadFile("../docs/decisions/locks-left-out.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "## Waiters that stay")
	var patterns []string
	for _, m := range stays.FindAllStringSubmatch(table, -1) {
		patterns = append(patterns, strings.Split(strings.ReplaceAll(m[1], "`", ""), ", ")...)
	}
	rows := map[string]int{}
	for _, s := range locks.All() {
		named := false
		for _, pattern := range patterns {
			if ok, _ := path.Match(pattern, s.Name); ok {
				named = true
				rows[pattern]++
			}
		}
		if want := s.Aborts == locks.Never; named != want {
			t.Errorf("the page names %s: %t, and its waiters stay: %t", s.Name, named, want)
		}
	}
	for _, pattern := range patterns {
		if rows[pattern] == 0 {
			t.Errorf("the page names %s, and the table has no such row", pattern)
		}
	}
}

var stays = regexp.MustCompile("(?m)^\\| (`.*`) \\|")
