package claims

import (
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/orwl/go-orwl/lab"
	"github.com/orwl/go-orwl/lab/report"
)

// said is a verdict in a word.
func said(holds bool) string {
	if holds {
		return "holds"
	}
	return "DOES NOT HOLD"
}

// titleOf is a row's figure with its title.
func titleOf(outcomes []Outcome, r Row) string {
	for _, o := range outcomes {
		if o.Figure == r.Figure {
			return o.Figure + ": " + o.Title
		}
	}
	return r.Figure
}

// why is the reason for an outcome that differs.
func (v Verdict) why() string {
	if v.Why == "" {
		return "not found out"
	}
	return v.Why
}

// Row is a claim and what came of it, for programs that read it.
type Row struct {
	Figure string `json:"figure"`
	Run    string `json:"run"`
	Claim  string `json:"claim"`
	Came   string `json:"came"`
	Holds  bool   `json:"holds"`
	Why    string `json:"why,omitempty"`
	// Broken is the change that makes the claim fail; "" if the claim fails as it is, or if none is known.
	Broken string `json:"broken_by,omitempty"`
}

// tested says what is known of a claim that holds.
func (r Row) tested() string {
	switch {
	case !r.Holds:
		return ""
	case r.Broken == "":
		return "not tested"
	}
	c, _ := ChangeByName(r.Broken)
	return fmt.Sprintf("fails if %s (%s)", c.About, c.Name)
}

// Rows are all claims of the outcomes.
func Rows(outcomes []Outcome) (rows []Row) {
	for _, o := range outcomes {
		for _, v := range o.Verdicts {
			r := Row{Figure: o.Figure, Run: o.run(), Claim: v.Text, Came: v.Came, Holds: v.Holds}
			if !v.Holds {
				r.Why = v.why()
			} else {
				r.Broken = testOf(o.Figure, v.Text)
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// RowsWith are the rows of all outcomes and those that other programs play, if the outcomes are all there are.
func RowsWith(outcomes []Outcome) []Row {
	rows := Rows(outcomes)
	if len(outcomes) == len(Studies()) {
		rows = append(rows, elsewhere()...)
	}
	return rows
}

// count is the last line of a table: how many claims hold, and for how many a change is known that makes them fail.
func count(rows []Row) string {
	held, untested := 0, 0
	for _, r := range rows {
		if r.Holds {
			held++
			if r.Broken == "" {
				untested++
			}
		}
	}
	return fmt.Sprintf("%d of %d claims hold, and %d of these are not tested: no change is known that makes them fail.", held, len(rows), untested)
}

// Table writes a row for each claim.
func Table(w io.Writer, outcomes []Outcome) error {
	var b strings.Builder
	rows, figure := RowsWith(outcomes), ""
	for _, r := range rows {
		if r.Figure != figure {
			figure = r.Figure
			fmt.Fprintf(&b, "%s\n  run: %s\n", titleOf(outcomes, r), r.Run)
		}
		fmt.Fprintf(&b, "  %-14s %s\n    came out: %s\n", said(r.Holds), r.Claim, r.Came)
		if r.Holds {
			fmt.Fprintf(&b, "    test: %s\n", r.tested())
		} else {
			fmt.Fprintf(&b, "    why: %s\n", r.Why)
		}
	}
	fmt.Fprintf(&b, "%s\nNot run:\n", count(rows))
	for _, g := range Missing() {
		fmt.Fprintf(&b, "  %s: %s: %s\n", g.Where, g.Text, g.Why)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// run is what was run.
func (o Outcome) run() string {
	length := fmt.Sprintf("%d iterations of each rank", o.Turns)
	if o.Time > 0 {
		length = fmt.Sprintf("%v of virtual time", o.Time)
	}
	return fmt.Sprintf("%s on %s, %s, %s", o.Benchmark, o.Machine, strings.Join(o.Trees, "; "), length)
}

// plot draws the figure again.
func (o Outcome) plot() report.Plot {
	p := report.Plot{Title: o.Figure + ": " + o.Title, X: "processes", LogX: true}
	if b, err := lab.BenchmarkByName(o.Benchmark); err == nil && len(o.Steps) > 0 && b.Sweep != nil {
		p.X = b.Sweep.Name + ", " + b.Sweep.Unit
	}
	scale := 1e-3
	switch o.Shows {
	case lab.FigureThroughput:
		p.Y, scale = "million sections a second", 1e-6
	case lab.FigureLatency, lab.FigureIteration, "1c", "sweep", "time":
		p.Y = o.Shows + ", us"
	default:
		p.Y, scale = o.Shows, 1
	}
	for i, l := range o.Data.Lines {
		s := report.Series{Name: l.Name, Colour: i}
		for _, at := range l.Points {
			if v, ok := at.Figures[o.Shows]; ok {
				s.Points = append(s.Points, report.Point{X: at.X, Y: v * scale})
			}
		}
		p.Series = append(p.Series, s)
	}
	return p
}

// rowsHTML writes the rows of a table, and its end.
func rowsHTML(b *strings.Builder, rows []Row) {
	for _, r := range rows {
		class, why := "", r.tested()
		if !r.Holds {
			class, why = ` class="no"`, r.Why
		}
		fmt.Fprintf(b, "<tr%s><td>%s<td>%s<td>%s<td>%s\n", class, html.EscapeString(r.Claim), html.EscapeString(r.Came), said(r.Holds), html.EscapeString(why))
	}
	b.WriteString("</table>\n")
}

const style = `body{font:14px/1.45 sans-serif;max-width:1100px;margin:2em auto;padding:0 1em}
table{border-collapse:collapse}td,th{padding:3px 9px;border-bottom:1px solid #ddd;text-align:left;vertical-align:top}.no{background:#fde8e0}svg{max-width:100%;height:auto}`

// HTML writes one page: each figure, its claims, and what was not run.
func HTML(w io.Writer, outcomes []Outcome) error {
	var b strings.Builder
	fmt.Fprintf(&b, "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>The papers' claims</title><style>%s</style>\n<h1>The papers' claims</h1>\n", style)
	b.WriteString("<p>Made by <code>orwl-lab reproduce</code>, in virtual time on described machines. Nothing is tuned to a claim.</p>\n")
	for _, o := range outcomes {
		fmt.Fprintf(&b, "<h2>%s: %s</h2>\n<p>%s</p>\n", html.EscapeString(o.Figure), html.EscapeString(o.Title), html.EscapeString(o.run()))
		p := o.plot()
		if err := p.SVG(&b); err != nil {
			return err
		}
		b.WriteString("<table><tr><th>claim<th>what came out<th>verdict<th>why, or what makes it fail\n")
		rowsHTML(&b, Rows([]Outcome{o}))
	}
	if len(outcomes) == len(Studies()) {
		b.WriteString("<h2>Played by other programs</h2><table><tr><th>claim<th>what came out<th>verdict<th>why, or what makes it fail\n")
		rowsHTML(&b, elsewhere())
	}
	fmt.Fprintf(&b, "<p>%s</p>\n", html.EscapeString(count(RowsWith(outcomes))))
	b.WriteString("<h2>Not run</h2><table><tr><th>where<th>claim<th>why\n")
	for _, g := range Missing() {
		fmt.Fprintf(&b, "<tr><td>%s<td>%s<td>%s\n", html.EscapeString(g.Where), html.EscapeString(g.Text), html.EscapeString(g.Why))
	}
	b.WriteString("</table></html>\n")
	_, err := io.WriteString(w, b.String())
	return err
}
