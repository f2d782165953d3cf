package locks_test

import (
	"os"
	"regexp"
	"slices"
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
