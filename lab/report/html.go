package report

import (
	"fmt"
	"html"
	"io"
	"strings"
)

// style is how the page looks.
const style = `body{font:14px/1.45 sans-serif;color:#222;max-width:1100px;margin:2em auto;padding:0 1em}
h1{font-size:22px}h2{font-size:17px;margin-top:2em;border-bottom:1px solid #ccc}
table{border-collapse:collapse;font-size:13px;margin:1em 0}th,td{padding:2px 9px;text-align:right;border-bottom:1px solid #e4e4e4;white-space:nowrap}
th{border-bottom:1px solid #666;font-weight:600}.l{text-align:left}.n{color:#555;font-size:12px}code{background:#f3f3f3;padding:1px 4px}.t{overflow-x:auto}svg{max-width:100%;height:auto}`

// HTML writes the report as one page that needs nothing from elsewhere.
func (r *Report) HTML(out io.Writer) error {
	groups, err := r.groups()
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\n<title>%s</title>\n<style>%s</style>\n<h1>%s</h1>\n",
		html.EscapeString(r.Title), style, html.EscapeString(r.Title))
	for _, line := range []string{r.Machine, r.Date} {
		if line != "" {
			fmt.Fprintf(&b, "<p>%s</p>\n", html.EscapeString(line))
		}
	}
	if r.Command != "" {
		fmt.Fprintf(&b, "<p>Made by <code>%s</code></p>\n", html.EscapeString(r.Command))
	}
	b.WriteString("<p>Each figure is the median over the repeats. Whiskers and intervals are its 95 % confidence interval. Of fewer than six repeats they say less: then the table names the level, as (75 %). A whisker with an arrow leaves the picture.</p>\n")
	for _, g := range groups {
		fmt.Fprintf(&b, "<h2>%s: %s (%s)</h2>\n", html.EscapeString(g.b.Name), html.EscapeString(g.b.About), html.EscapeString(g.b.Paper))
		fmt.Fprintf(&b, "<p>On %s.</p>\n", html.EscapeString(strings.Join(g.machines(), "; ")))
		for _, p := range r.plots(g) {
			if err := p.SVG(&b); err != nil {
				return err
			}
		}
		g.html(&b)
	}
	if len(r.Skipped) > 0 {
		b.WriteString("<h2>Left out</h2>\n<ul>\n")
		for _, s := range r.Skipped {
			fmt.Fprintf(&b, "<li>%s</li>\n", html.EscapeString(s))
		}
		b.WriteString("</ul>\n")
	}
	b.WriteString("</html>\n")
	_, err = io.WriteString(out, b.String())
	return err
}

// html writes the table of a group.
func (g group) html(b *strings.Builder) {
	columns := g.columns()
	left := func(title string) string {
		if title == "lock" || title == "window" || title == "machine" || title == "note" {
			return ` class="l"`
		}
		return ""
	}
	b.WriteString(`<div class="t"><table><tr>`)
	for _, c := range columns {
		fmt.Fprintf(b, "<th%s>%s</th>", left(c.title), html.EscapeString(c.title))
	}
	b.WriteString("</tr>\n")
	for _, r := range g.results {
		b.WriteString("<tr>")
		for _, c := range columns {
			fmt.Fprintf(b, "<td%s>%s</td>", left(c.title), html.EscapeString(c.cell(r)))
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</table></div>\n")
	if legend := g.legend(); len(legend) > 0 {
		fmt.Fprintf(b, "<p class=\"n\">%s.</p>\n", html.EscapeString(strings.Join(legend, "; ")))
	}
}
