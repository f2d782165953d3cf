package dashboards

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/promserver"
)

// page is what the tests read of a dashboard's file.
type page struct {
	UID, Title    string
	SchemaVersion int
	Panels        []picture
	Templating    struct {
		List []struct{ Name, Type, Definition string }
	}
}

type picture struct {
	ID          int
	Type, Title string
	GridPos     struct{ X, Y, W, H int }
	Datasource  struct{ UID string }
	FieldConfig struct{ Defaults struct{ Unit string } }
	Targets     []struct{ RefID, Expr, LegendFormat string }
}

func pages(t *testing.T) (all []page) {
	t.Helper()
	files, err := filepath.Glob("*.json")
	if err != nil || len(files) != len(All()) {
		t.Fatalf("files %v, %v: want %d", files, err, len(All()))
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var p page
		if err := json.Unmarshal(text, &p); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if regexp.MustCompile(`localhost|127\.0\.0\.1|://`).Match(text) {
			t.Errorf("%s names a host", file)
		}
		all = append(all, p)
	}
	return all
}

// TestPages looks for what Grafana would put up with, and its user would not.
func TestPages(t *testing.T) {
	uids := make(map[string]bool)
	for _, p := range pages(t) {
		if uids[p.UID] || !strings.HasPrefix(p.UID, "orwl-") || p.SchemaVersion != schema {
			t.Errorf("%s: uid %q, schema %d", p.Title, p.UID, p.SchemaVersion)
		}
		uids[p.UID] = true
		var chosen []string
		for _, v := range p.Templating.List {
			chosen = append(chosen, v.Name)
		}
		if !slices.Equal(chosen[:3], []string{"datasource", "job", "node"}) {
			t.Errorf("%s asks for %v", p.Title, chosen)
		}
		for _, fault := range append(overlaps(p.Panels), blanks(p.Panels)...) {
			t.Errorf("%s: %s", p.Title, fault)
		}
	}
}

// overlaps are panels with the id of another, or that lie on another, or beside the page.
func overlaps(panels []picture) (faults []string) {
	ids := make(map[int]bool)
	taken := make(map[[2]int]string)
	for _, p := range panels {
		if ids[p.ID] || p.ID == 0 {
			faults = append(faults, fmt.Sprintf("%s: id %d again", p.Title, p.ID))
		}
		ids[p.ID] = true
		g := p.GridPos
		if g.X < 0 || g.W <= 0 || g.H <= 0 || g.X+g.W > columns {
			faults = append(faults, fmt.Sprintf("%s lies at %+v", p.Title, g))
		}
		for x := g.X; x < g.X+g.W; x++ {
			for y := g.Y; y < g.Y+g.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" {
					return append(faults, p.Title+" lies on "+other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
	}
	return faults
}

// blanks are panels that lack what makes them readable.
func blanks(panels []picture) (faults []string) {
	for _, p := range panels {
		if p.Type == "row" {
			continue
		}
		if p.Title == "" || p.FieldConfig.Defaults.Unit == "" && p.Type != string(Table) || p.Datasource.UID != "${datasource}" || len(p.Targets) == 0 {
			faults = append(faults, fmt.Sprintf("panel %q: unit %q, data source %q, %d queries", p.Title, p.FieldConfig.Defaults.Unit, p.Datasource.UID, len(p.Targets)))
		}
		legends := make(map[string]bool)
		for _, q := range p.Targets {
			if legends[q.LegendFormat] || q.LegendFormat == "" && p.Type != string(Table) {
				faults = append(faults, fmt.Sprintf("panel %q has legend %q", p.Title, q.LegendFormat))
			}
			legends[q.LegendFormat] = true
			if strings.Contains(q.Expr, "here") || !strings.Contains(q.Expr, `job=~"$job"`) {
				faults = append(faults, fmt.Sprintf("panel %q does not choose: %s", p.Title, q.Expr))
			}
			for label := range strings.FieldsFuncSeq(q.LegendFormat, func(r rune) bool { return r == ' ' || r == ',' || r == '(' || r == ')' }) {
				if name := strings.Trim(label, "{}"); strings.HasPrefix(label, "{{") && strings.Contains(q.Expr, "by (") && !strings.Contains(q.Expr, name) {
					faults = append(faults, fmt.Sprintf("panel %q shows %s, which is aggregated away: %s", p.Title, label, q.Expr))
				}
			}
		}
	}
	return faults
}

// TestFaultsOfPages shows that the tests above would find something.
func TestFaultsOfPages(t *testing.T) {
	good := picture{ID: 1, Type: "timeseries", Title: "a"}
	good.GridPos.W, good.GridPos.H = 8, 8
	same, beside := good, good
	beside.ID, beside.GridPos.X = 2, 20
	for _, panels := range [][]picture{{good, same}, {good, beside}} {
		if len(overlaps(panels)) == 0 {
			t.Errorf("nothing is wrong with %+v", panels)
		}
	}
	if len(blanks([]picture{good})) == 0 {
		t.Error("nothing is wrong with a panel without queries")
	}
}

// rules are the rules of rules.yml, by what they are called, as far as the tests read
// YAML: a record or an alert, and then an expression of one line or several.
func rules(t *testing.T) (exprs map[string]string, alerts []string) {
	t.Helper()
	text, err := os.ReadFile("rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	exprs = make(map[string]string)
	rule := regexp.MustCompile(`(?m)^      - (record|alert): (\S+)\n        expr: (?:\|\n((?:          .*\n)+)|(.*)\n)`)
	for _, found := range rule.FindAllStringSubmatch(string(text), -1) {
		exprs[found[2]] = strings.TrimSpace(found[3] + found[4])
		if found[1] == "alert" {
			alerts = append(alerts, found[2])
		}
	}
	if all := strings.Count(string(text), "expr:"); len(exprs) != all {
		t.Fatalf("%d rules are found of %d", len(exprs), all)
	}
	return exprs, alerts
}

// TestExpressions has promtool read every expression of a panel, as if it were a rule,
// and the rules themselves with their tests.
func TestExpressions(t *testing.T) {
	promtool := promserver.Look(t, "promtool")
	var b strings.Builder
	b.WriteString("groups: [{name: panels, rules: [\n")
	count := 0
	for _, p := range pages(t) {
		for _, panel := range p.Panels {
			for _, q := range panel.Targets {
				fmt.Fprintf(&b, "{record: %q, expr: %q},\n", fmt.Sprintf("panel_%d", count), strings.ReplaceAll(q.Expr, "$__rate_interval", "1m"))
				count++
			}
		}
	}
	b.WriteString("]}]\n")
	file := filepath.Join(t.TempDir(), "panels.yml")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"check", "rules", file}, {"check", "config", "prometheus.yml"}, {"test", "rules", "rules_test.yml"}} {
		if said, err := exec.Command(promtool, args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, said)
		}
	}
}

// TestAlertsAreTested compares the alerts with those that rules_test.yml lets fire, and with
// what docs/reference/observe.md says to do.
func TestAlertsAreTested(t *testing.T) {
	tests, err := os.ReadFile("rules_test.yml")
	if err != nil {
		t.Fatal(err)
	}
	guide, err := os.ReadFile("../docs/reference/observe.md")
	if err != nil {
		t.Fatal(err)
	}
	rulesText, err := os.ReadFile("rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	_, alerts := rules(t)
	for _, alert := range alerts {
		fires := "alertname: " + alert + "\n        exp_alerts:\n          - exp_labels"
		quiet := "alertname: " + alert + ", exp_alerts: []"
		if !strings.Contains(string(tests), fires) || !strings.Contains(string(tests), quiet) {
			t.Errorf("rules_test.yml does not show %s firing and keeping quiet", alert)
		}
		if anchor := "docs/reference/observe.md#" + strings.ToLower(alert); !strings.Contains(string(rulesText), anchor+"\n") {
			t.Errorf("%s does not refer to %s", alert, anchor)
		}
		if !strings.Contains(string(guide), "\n### "+alert+"\n") {
			t.Errorf("docs/reference/observe.md does not say what to do about %s", alert)
		}
	}
}

func TestMetrics(t *testing.T) {
	for _, c := range []struct {
		expr string
		want []string
	}{
		{"up", []string{"up"}},
		{`sum by (le, mode) (rate(a_bucket{here="x", there=~"$y"}[5m])) / 1e3`, []string{"a_bucket"}},
		{`a_total{x="}"} and on (job) b:c:rate5m > 0.5 offset 5m`, []string{"a_total", "b:c:rate5m"}},
		{`histogram_quantile (0.9, a) or vector(1)`, []string{"a"}},
	} {
		if got := Metrics(c.expr); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.expr, got, c.want)
		}
	}
}
