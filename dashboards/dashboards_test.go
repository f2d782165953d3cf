package dashboards

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"

	"github.com/orwl/go-orwl/internal/promserver"
)

const (
	schema  = 41 // the version of Grafana's format: Grafana 12's. Later ones read it, and so do earlier ones from 10 on.
	columns = 24 // of a page
	chosen  = "${datasource}"
)

func pages(t *testing.T) []Page {
	t.Helper()
	all, err := Pages()
	if err != nil || len(all) == 0 {
		t.Fatalf("%d dashboards, %v", len(all), err)
	}
	return all
}

// TestPages looks for what Grafana would put up with, and its user would not.
func TestPages(t *testing.T) {
	uids := make(map[string]bool)
	for _, p := range pages(t) {
		if uids[p.UID] || "orwl-"+strings.TrimSuffix(p.File, ".json") != p.UID || p.SchemaVersion != schema {
			t.Errorf("%s: uid %q in %s, schema %d", p.Title, p.UID, p.File, p.SchemaVersion)
		}
		uids[p.UID] = true
		if regexp.MustCompile(`localhost|127\.0\.0\.1|://`).Match(p.Text) {
			t.Errorf("%s names a host", p.File)
		}
		for _, fault := range slices.Concat(overlaps(p.Panels), blanks(p.Panels), unasked(p.Templating.List)) {
			t.Errorf("%s: %s", p.Title, fault)
		}
	}
}

// overlaps are panels with the id of another, or that lie on another, or beside the page.
func overlaps(panels []Panel) (faults []string) {
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
func blanks(panels []Panel) (faults []string) {
	for _, p := range panels {
		if p.Type == "row" {
			continue
		}
		if p.Title == "" || p.FieldConfig.Defaults.Unit == "" && p.Type != "table" || p.Datasource.UID != chosen || len(p.Targets) == 0 {
			faults = append(faults, fmt.Sprintf("panel %q: unit %q, data source %q, %d queries", p.Title, p.FieldConfig.Defaults.Unit, p.Datasource.UID, len(p.Targets)))
		}
		legends, refs := make(map[string]bool), make(map[string]bool)
		for _, q := range p.Targets {
			faults = append(faults, misasked(p, q)...)
			if refs[q.RefID] || q.RefID == "" {
				faults = append(faults, fmt.Sprintf("panel %q has two queries %q", p.Title, q.RefID))
			}
			refs[q.RefID] = true
			if legends[q.LegendFormat] || q.LegendFormat == "" && p.Type != "table" {
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

// formats are the kinds of panels: how Grafana must put what Prometheus says.
var formats = map[string]string{"timeseries": "", "stat": "", "table": "table", "heatmap": "heatmap"}

// misasked is what is wrong with how a panel asks: a number and a table show a moment, others how it came there.
func misasked(p Panel, q Target) (faults []string) {
	format, known := formats[p.Type]
	moment := p.Type == "stat" || p.Type == "table"
	if !known || q.Format != format || q.Instant != moment || q.Range == moment || q.Datasource.UID != chosen {
		faults = append(faults, fmt.Sprintf("panel %q of type %q asks %q for %q, instant %v, range %v", p.Title, p.Type, q.Datasource.UID, q.Format, q.Instant, q.Range))
	}
	return faults
}

// unasked are choices that are not there, or that do not follow the ones before.
func unasked(list []Variable) (faults []string) {
	var names []string
	for i, v := range list {
		names = append(names, v.Name)
		follows := strings.Contains(v.Definition, `job=~"$job"`)
		if i > 0 && (v.Type != "query" || !strings.HasPrefix(v.Definition, "label_values(") || i > 1 && !follows) {
			faults = append(faults, fmt.Sprintf("%s is a %s by %q", v.Name, v.Type, v.Definition))
		}
	}
	if len(names) < 3 || !slices.Equal(names[:3], []string{"datasource", "job", "node"}) || list[0].Type != "datasource" {
		faults = append(faults, fmt.Sprintf("it asks for %v", names))
	}
	return faults
}

// TestFaultsOfPages shows that the tests above would find something.
func TestFaultsOfPages(t *testing.T) {
	good := Panel{ID: 1, Type: "timeseries", Title: "a"}
	good.GridPos.W, good.GridPos.H = 8, 8
	same, beside := good, good
	beside.ID, beside.GridPos.X = 2, 20
	for _, panels := range [][]Panel{{good, same}, {good, beside}} {
		if len(overlaps(panels)) == 0 {
			t.Errorf("nothing is wrong with %+v", panels)
		}
	}
	if len(blanks([]Panel{good})) == 0 {
		t.Error("nothing is wrong with a panel without queries")
	}
	asks := Target{RefID: "A", Range: true, Datasource: Source{UID: chosen}}
	if faults := misasked(good, asks); len(faults) > 0 {
		t.Error(faults)
	}
	moment, heat, from := asks, asks, asks
	moment.Instant, heat.Format, from.Datasource.UID = true, "heatmap", "main"
	for _, q := range []Target{moment, heat, from} {
		if len(misasked(good, q)) == 0 {
			t.Errorf("nothing is wrong with %+v", q)
		}
	}
	for _, list := range [][]Variable{nil, {{Name: "datasource", Type: "datasource"}, {"job", "query", "label_values(orwl_info, job)"}, {"node", "query", "label_values(orwl_info, node)"}}} {
		if len(unasked(list)) == 0 {
			t.Errorf("nothing is wrong with %+v", list)
		}
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

// TestSchema reads the dashboards as Grafana's own types, which know each field and what a field
// may be. Panels are looked at as far as they are alike: the module in
// folder grafana knows their kinds.
func TestSchema(t *testing.T) {
	for _, d := range pages(t) {
		text := d.Text
		if err := asGrafana(text); err != nil {
			t.Errorf("%s: %v", d.UID, err)
		}
		for from, to := range map[string]string{
			`"schemaVersion":`: `"schemaversion":`, `"targetBlank": false`: `"targetBlank": "no"`, `"editable": true`: `"editable": 1`,
			`"icon":`: `"icons":`,
		} {
			if changed := bytes.Replace(text, []byte(from), []byte(to), 1); bytes.Equal(changed, text) || asGrafana(changed) == nil {
				t.Errorf("%s: %s instead of %s is not noticed", d.UID, to, from)
			}
		}
	}
}

func asGrafana(text []byte) error {
	//lint:ignore SA1019 dashboardv2 reads files of another form, which provisioning by folder does not take
	var d dashboard.Dashboard
	if err := d.UnmarshalJSONStrict(text); err != nil && err.Error() != "" { // without an error it is an empty list of them
		return err
	}
	return d.Validate()
}

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
