package dashboards

import (
	"regexp"
	"slices"
	"strings"
)

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
