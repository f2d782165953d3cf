package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/orwl/go-orwl/lab"
)

// column is a column of a table.
type column struct {
	title string
	cell  func(lab.Result) string
}

// of is a column of a figure's median.
func of(title, figure string) column {
	return column{title, func(r lab.Result) string {
		f, ok := r.Figure(figure)
		switch {
		case !ok:
			return "-"
		case f.Unit == "" && !strings.HasPrefix(f.Name, lab.FigureRemote): // a share
			return percent(f.Median)
		}
		return show(f.Median, f.Unit)
	}}
}

// columns are the columns of a group's table.
func (g group) columns() []column {
	columns := []column{
		{"window", func(r lab.Result) string { return r.Window }},
		{"ranks", func(r lab.Result) string { return fmt.Sprint(r.Ranks) }},
	}
	if len(g.machines()) > len(distinct(g.results, func(r lab.Result) int { return r.Ranks })) {
		columns = append(columns, column{"machine", func(r lab.Result) string { return r.Machine }})
	}
	if g.b.Sweep != nil {
		columns = append(columns, column{g.b.Sweep.Name, func(r lab.Result) string { return digits(r.Step) + " " + g.b.Sweep.Unit }})
	}
	if !g.b.Lockless {
		columns = append(columns, column{"lock", g.name})
	}
	columns = append(columns, of(g.b.Figure, g.b.Figure), column{"95 % interval", func(r lab.Result) string {
		f, ok := r.Figure(g.b.Figure)
		if !ok {
			return "-"
		}
		text := interval(f)
		if f.N == 1 {
			return "-"
		}
		if f.Sure < 0.95 {
			text += fmt.Sprintf(" (%.0f %%)", 100*f.Sure)
		}
		return text
	}})
	if g.b.Section == nil {
		for _, name := range names(g.results) {
			if name != g.b.Figure {
				columns = append(columns, of(name, name))
			}
		}
		return g.noted(columns)
	}
	for _, name := range []string{lab.FigureThroughput, lab.FigureLatency} {
		if name != g.b.Figure {
			columns = append(columns, of(name, name))
		}
	}
	if g.b.Figure == lab.FigureIteration {
		columns = append(columns, of(lab.FigureOverhead, lab.FigureOverhead))
	}
	columns = append(columns, of("wait p50", lab.FigureWait+" p50"), of("p99", lab.FigureWait+" p99"), of("max", lab.FigureWait+" max"),
		of("cv", lab.FigureFairness), of("contended", lab.FigureContended), of("above", lab.FigureGlobal))
	for _, name := range names(g.results) {
		switch {
		case strings.HasPrefix(name, lab.FigureLocal):
			columns = append(columns, of(strings.TrimPrefix(name, lab.FigureLocal+" "), name))
		case strings.HasPrefix(name, lab.FigureRemote):
			columns = append(columns, of("ops"+strings.TrimPrefix(name, lab.FigureRemote), name))
		}
	}
	return g.noted(columns)
}

// machines are the trees on which the group was played.
func (g group) machines() []string {
	return distinct(g.results, func(r lab.Result) string { return r.Machine })
}

// noted adds the notes, if there are any.
func (g group) noted(columns []column) []column {
	for _, r := range g.results {
		if r.Note != "" {
			return append(columns, column{"note", func(r lab.Result) string { return r.Note }})
		}
	}
	return columns
}

// Table writes the report as text: a table for each benchmark.
func (r *Report) Table(out io.Writer) error {
	groups, err := r.groups()
	if err != nil {
		return err
	}
	if r.Machine != "" {
		fmt.Fprintln(out, r.Machine)
	}
	for _, g := range groups {
		fmt.Fprintf(out, "\n%s: %s (%s)\non %s\n", g.b.Name, g.b.About, g.b.Paper, strings.Join(g.machines(), "; "))
		if err := g.table(out); err != nil {
			return err
		}
	}
	for _, s := range r.Skipped {
		fmt.Fprintf(out, "\nleft out: %s\n", s)
	}
	return nil
}

func (g group) table(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	columns := g.columns()
	var titles []string
	for _, c := range columns {
		titles = append(titles, c.title)
	}
	fmt.Fprintln(w, strings.Join(titles, "\t"))
	for _, r := range g.results {
		for i, c := range columns {
			if i > 0 {
				fmt.Fprint(w, "\t")
			}
			fmt.Fprint(w, c.cell(r))
		}
		fmt.Fprintln(w)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, line := range g.legend() {
		fmt.Fprintf(out, "  %s\n", line)
	}
	return nil
}
