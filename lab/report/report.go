package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/orwl/go-orwl/lab"
)

// Report is results, and where they come from.
type Report struct {
	Title   string       `json:"title"`
	Command string       `json:"command,omitempty"` // the command that made the report
	Machine string       `json:"machine,omitempty"` // the machine of the runs
	Date    string       `json:"date,omitempty"`
	Skipped []string     `json:"skipped,omitempty"` // the runs that were left out, and why
	Results []lab.Result `json:"results"`
}

// JSON writes the report as one JSON object.
func (r *Report) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// group is the results of one benchmark, in the order of the report.
type group struct {
	b       lab.Benchmark
	results []lab.Result
}

func (r *Report) groups() ([]group, error) {
	var groups []group
	for _, result := range r.Results {
		i := slices.IndexFunc(groups, func(g group) bool { return g.b.Name == result.Benchmark })
		if i < 0 {
			b, err := lab.BenchmarkByName(result.Benchmark)
			if err != nil {
				return nil, err
			}
			i, groups = len(groups), append(groups, group{b: b})
		}
		groups[i].results = append(groups[i].results, result)
	}
	return groups, nil
}

// differs reports whether a part of the cases is not the same in all results.
func differs[T comparable](results []lab.Result, part func(lab.Result) T) bool {
	for _, r := range results {
		if part(r) != part(results[0]) {
			return true
		}
	}
	return false
}

// names are the names of all figures of the results, in the order in which they come.
func names(results []lab.Result) (all []string) {
	for _, r := range results {
		for _, f := range r.Figures {
			if !slices.Contains(all, f.Name) {
				all = append(all, f.Name)
			}
		}
	}
	return all
}

// name is what tells a contender from others of its group: the lock, and what else differs.
func (g group) name(r lab.Result) string {
	name := r.Lock
	if name == "" {
		name = r.Benchmark
	}
	if differs(g.results, func(r lab.Result) float64 { return r.Writers }) && r.Writers != 1 {
		name += fmt.Sprintf(", F_W %s", percent(r.Writers))
	}
	if r.Inside != 0 {
		name += fmt.Sprintf(", %v inside", r.Inside)
	}
	if r.Outside != 0 {
		name += fmt.Sprintf(", %v outside", r.Outside)
	}
	return name
}
