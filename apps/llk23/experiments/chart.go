package experiments

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
)

// chart is a drawing of lines over a logarithmic horizontal axis.
type chart struct {
	x, y   string // the axes' titles
	lines  []line
	logY   bool
	format string // of the vertical axis's numbers
}

// line is a series of points. A dashed line has no marks.
type line struct {
	name   string
	colour int
	dashed bool
	at     [][2]float64
}

// colours are Okabe and Ito's, which people tell apart who see few colours.
var colours = []string{"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#555555"}

// The drawing, in SVG's units.
const (
	chartWide, chartHigh      = 660.0, 360.0
	plotLeft, plotRight       = 66.0, 460.0
	plotTop, plotBottom       = 14.0, 306.0
	legendLeft, legendSpacing = 476.0, 19.0
)

// svg draws it.
func (c chart) svg() string {
	xs, ys := c.spans()
	x := func(v float64) float64 { return plotLeft + (plotRight-plotLeft)*xs.place(v) }
	y := func(v float64) float64 { return plotBottom - (plotBottom-plotTop)*ys.place(v) }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %g %g" role="img" aria-label="%s against %s">`, chartWide, chartHigh, html.EscapeString(c.y), html.EscapeString(c.x))
	text := func(at, down float64, anchor, what string) {
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, at, down, anchor, html.EscapeString(what))
	}
	for _, v := range ys.ticks() {
		fmt.Fprintf(&b, `<path class="grid" d="M%g %.1fH%g"/>`, plotLeft, y(v), plotRight)
		text(plotLeft-7, y(v)+4, "end", fmt.Sprintf(c.format, v))
	}
	for _, v := range c.places() {
		fmt.Fprintf(&b, `<path class="grid" d="M%.1f %gV%g"/>`, x(v), plotTop, plotBottom+4)
		text(x(v), plotBottom+18, "middle", strconv.FormatFloat(v, 'g', -1, 64))
	}
	text((plotLeft+plotRight)/2, plotBottom+40, "middle", c.x)
	fmt.Fprintf(&b, `<text transform="translate(15 %g) rotate(-90)" text-anchor="middle">%s</text>`, (plotTop+plotBottom)/2, html.EscapeString(c.y))
	for i, l := range c.lines {
		colour, class := colours[l.colour%len(colours)], "line"
		if l.dashed {
			class = "line dashed"
		}
		down := plotTop + 8 + legendSpacing*float64(i)
		fmt.Fprintf(&b, `<g stroke="%s" fill="%s"><path class="%s" d="M%g %gh22"/>`, colour, colour, class, legendLeft, down)
		for n, p := range l.at {
			if n == 0 {
				b.WriteString(`<path class="` + class + `" d="M`)
			} else {
				b.WriteString("L")
			}
			fmt.Fprintf(&b, "%.1f %.1f", x(p[0]), y(p[1]))
		}
		if len(l.at) > 0 {
			b.WriteString(`"/>`)
		}
		for _, p := range l.at {
			if !l.dashed {
				fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="3"/>`, x(p[0]), y(p[1]))
			}
		}
		b.WriteString(`</g>`)
		text(legendLeft+28, down+4, "start", l.name)
	}
	b.WriteString(`</svg>`)
	return b.String()
}

// places are the values of the horizontal axis that have points.
func (c chart) places() (all []float64) {
	seen := make(map[float64]bool)
	for _, l := range c.lines {
		for _, p := range l.at {
			if !seen[p[0]] {
				seen[p[0]] = true
				all = append(all, p[0])
			}
		}
	}
	return all
}

// spans are what the axes show.
func (c chart) spans() (x, y span) {
	x, y = span{least: math.Inf(1), log: true}, span{least: math.Inf(1), log: c.logY}
	for _, l := range c.lines {
		for _, p := range l.at {
			x.least, x.most = min(x.least, p[0]), max(x.most, p[0])
			y.least, y.most = min(y.least, p[1]), max(y.most, p[1])
		}
	}
	if !c.logY {
		y.least, y.most = 0, y.most*1.08
	}
	return x.wide(), y.wide()
}

// span is what an axis shows.
type span struct {
	least, most float64
	log         bool
}

// wide is a span that is not empty. A logarithmic one has a bit of room at its ends.
func (s span) wide() span {
	switch {
	case math.IsInf(s.least, 1):
		return span{1, 2, s.log}
	case s.log:
		return span{s.least / 1.15, s.most * 1.15, true}
	case s.most <= s.least:
		return span{s.least, s.least + 1, false}
	}
	return s
}

// place is how far a value is from the least to the most.
func (s span) place(v float64) float64 {
	if s.log {
		return math.Log(v/s.least) / math.Log(s.most/s.least)
	}
	return (v - s.least) / (s.most - s.least)
}

// ticks are round values in the span: 1, 2 and 5 times the powers of ten, or their multiples.
func (s span) ticks() (all []float64) {
	if s.log {
		for power := math.Floor(math.Log10(s.least)); ; power++ {
			for _, digit := range []float64{1, 2, 5} {
				v := digit * math.Pow(10, power)
				if v > s.most {
					return all
				}
				if v >= s.least {
					all = append(all, v)
				}
			}
		}
	}
	step := math.Pow(10, math.Floor(math.Log10((s.most-s.least)/4)))
	for _, factor := range []float64{5, 2} {
		if (s.most-s.least)/(factor*step) >= 4 {
			step *= factor
			break
		}
	}
	for n := math.Ceil(s.least / step); n*step <= s.most; n++ {
		all = append(all, n*step)
	}
	return all
}
