package dashboards

import (
	"embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

//go:embed *.json
var files embed.FS

// Page is what the tests read of a dashboard's file.
type Page struct {
	// File is the name of the file, and Text its content.
	File string `json:"-"`
	Text []byte `json:"-"`

	UID, Title    string
	SchemaVersion int
	Panels        []Panel
	Templating    struct{ List []Variable }
}

// Panel is one picture, or the heading of a row.
type Panel struct {
	ID          int
	Type, Title string
	GridPos     struct{ X, Y, W, H int }
	Datasource  Source
	FieldConfig struct{ Defaults struct{ Unit string } }
	Targets     []Target
}

// Target is a query, and what is drawn of it.
type Target struct {
	RefID, Expr, LegendFormat, Format string
	Range, Instant                    bool
	Datasource                        Source
}

// Variable is something that is asked for above the panels.
type Variable struct{ Name, Type, Definition string }

// Source is where a panel's data come from.
type Source struct{ Type, UID string }

// Pages reads all dashboards.
func Pages() (all []Page, err error) {
	names, err := files.ReadDir(".")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		p := Page{File: name.Name()}
		if p.Text, err = files.ReadFile(p.File); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(p.Text, &p); err != nil {
			return nil, fmt.Errorf("%s: %w", p.File, err)
		}
		all = append(all, p)
	}
	return all, nil
}

// Query is what a panel asks, with its choices made.
type Query struct{ Panel, Expr string }

// Queries are what the panels ask of all nodes of a job. Rates are over an interval, such as 10s.
func (p Page) Queries(job, interval string) (all []Query) {
	made := strings.NewReplacer("$job", job, "$node", ".*", "$lock", ".*", "$__rate_interval", interval)
	for _, panel := range p.Panels {
		for _, t := range panel.Targets {
			all = append(all, Query{panel.Title, made.Replace(t.Expr)})
		}
	}
	return all
}

var choices = regexp.MustCompile(`^label_values\((\w+)\{`)

// Named returns each metric that a panel draws, or that a choice is made by, and where that is.
func Named() (map[string]string, error) {
	pages, err := Pages()
	if err != nil {
		return nil, err
	}
	named := make(map[string]string)
	for _, p := range pages {
		for _, v := range p.Templating.List {
			if found := choices.FindStringSubmatch(v.Definition); found != nil {
				named[found[1]] = p.Title + ", " + v.Name
			}
		}
		for _, panel := range p.Panels {
			for _, q := range panel.Targets {
				for _, name := range Metrics(q.Expr) {
					named[name] = p.Title + ", " + panel.Title
				}
			}
		}
	}
	return named, nil
}

var (
	quoted     = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	selectors  = regexp.MustCompile(`\{[^}]*\}`)
	groupings  = regexp.MustCompile(`\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)`)
	ranges     = regexp.MustCompile(`\[[^\]]*\]`)
	identifier = regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]*\s*\(?`)
)

// words of PromQL that stand where a metric could.
var words = []string{"and", "or", "unless", "bool", "offset", "inf", "nan", "on", "ignoring", "by", "without"}

// Metrics are the names of the series that an expression in PromQL selects, once each
// and in alphabetical order: what is left of it without its texts, labels, times and
// functions. It does not ask whether the expression is one: promtool does.
func Metrics(expr string) []string {
	for _, r := range []*regexp.Regexp{quoted, selectors, groupings, ranges} {
		expr = r.ReplaceAllString(expr, " ")
	}
	var names []string
	for _, at := range identifier.FindAllStringIndex(expr, -1) {
		name := expr[at[0]:at[1]]
		afterDigit := at[0] > 0 && strings.Contains("0123456789.", expr[at[0]-1:at[0]])
		if afterDigit || strings.HasSuffix(name, "(") {
			continue // 1e3 and 5m are numbers, rate( is a function
		}
		if name = strings.TrimSpace(name); !slices.Contains(words, strings.ToLower(name)) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
