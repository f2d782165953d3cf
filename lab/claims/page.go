package claims

import (
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/orwl/go-orwl/lab"
	"github.com/orwl/go-orwl/lab/report"
)

// said is a verdict in one word.
func (v Verdict) said() string {
	if v.Holds {
		return "holds"
	}
	return "DOES NOT HOLD"
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
}

// Rows are all claims of the outcomes.
func Rows(outcomes []Outcome) (rows []Row) {
	for _, o := range outcomes {
		for _, v := range o.Verdicts {
			r := Row{Figure: o.Figure, Run: o.run(), Claim: v.Text, Came: v.Came, Holds: v.Holds}
			if !v.Holds {
				r.Why = v.why()
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// Table writes a row for each claim.
func Table(w io.Writer, outcomes []Outcome) error {
	var b strings.Builder
	held, claims := 0, 0
	for _, o := range outcomes {
		fmt.Fprintf(&b, "%s: %s\n  run: %s\n", o.Figure, o.Title, o.run())
		for _, v := range o.Verdicts {
			fmt.Fprintf(&b, "  %-14s %s\n    came out: %s\n", v.said(), v.Text, v.Came)
			if !v.Holds {
				fmt.Fprintf(&b, "    why: %s\n", v.why())
			}
			claims++
			if v.Holds {
				held++
			}
		}
	}
	fmt.Fprintf(&b, "%d of %d claims hold. Not run:\n", held, claims)
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
		b.WriteString("<table><tr><th>claim<th>what came out<th>verdict<th>why\n")
		for _, v := range o.Verdicts {
			class, why := "", ""
			if !v.Holds {
				class, why = ` class="no"`, v.why()
			}
			fmt.Fprintf(&b, "<tr%s><td>%s<td>%s<td>%s<td>%s\n", class, html.EscapeString(v.Text), html.EscapeString(v.Came), v.said(), html.EscapeString(why))
		}
		b.WriteString("</table>\n")
	}
	b.WriteString("<h2>Not run</h2><table><tr><th>where<th>claim<th>why\n")
	for _, g := range Missing() {
		fmt.Fprintf(&b, "<tr><td>%s<td>%s<td>%s\n", html.EscapeString(g.Where), html.EscapeString(g.Text), html.EscapeString(g.Why))
	}
	b.WriteString("</table></html>\n")
	_, err := io.WriteString(w, b.String())
	return err
}
