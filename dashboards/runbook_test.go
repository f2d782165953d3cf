package dashboards

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Each alert leads to a section of a page that is there.
func TestRunbooks(t *testing.T) {
	const at = "https://github.com/orwl/go-orwl/blob/main/docs/reference/observe.md#"
	rules, err := os.ReadFile("rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../docs/reference/observe.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := make(map[string]bool)
	for line := range strings.Lines(string(page)) {
		if heading, is := strings.CutPrefix(line, "### "); is {
			sections[strings.ToLower(strings.TrimSpace(heading))] = true
		}
	}
	alerts := regexp.MustCompile(`(?m)^ +- alert: (\w+)$`).FindAllStringSubmatch(string(rules), -1)
	books := regexp.MustCompile(`(?m)^ +runbook_url: (.*)$`).FindAllStringSubmatch(string(rules), -1)
	if len(alerts) == 0 || len(books) != len(alerts) {
		t.Fatalf("%d alerts and %d runbooks", len(alerts), len(books))
	}
	for i, a := range alerts {
		name := strings.ToLower(a[1])
		if books[i][1] != at+name || !sections[name] {
			t.Errorf("the runbook of %s is %s, and the page has its section: %v", a[1], books[i][1], sections[name])
		}
	}
}
