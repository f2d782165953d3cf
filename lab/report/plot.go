package report

import (
	"fmt"
	"html"
	"io"
	"math"
	"strings"
)

// Plot is a diagram. It draws lines, or bars if there are Bars.
type Plot struct {
	Title, X, Y string
	// LogX and LogY make an axis logarithmic. Values that are not above 0 are left out then.
	LogX, LogY bool
	// Bars are the places on the X axis of a diagram with bars, or nil for lines.
	Bars   []string
	Series []Series

	stacked bool // each bar is a series of its own, and stands alone at its place
}

// Series is a line, or the bars of one colour.
type Series struct {
	Name   string
	Colour int  // the same number is the same colour in all plots; negative is grey
	Dashed bool // for a line that was not measured, such as an optimum
	Points []Point
}

// Point is a value with its confidence interval. For bars, X is the number of the place.
type Point struct{ X, Y, Low, High float64 }

// palette are colours that differ also for eyes that do not tell red from green.
var palette = [...]string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a5195", "#8c564b", "#4c4c4c", "#b5bd00"}

func colour(n int) string {
	if n < 0 {
		return "#999999"
	}
	return palette[n%len(palette)]
}

// The size of a plot, in pixels, and of the space around its axes.
const (
	plotWidth, plotHeight    = 760, 340
	plotLeft, plotRight      = 78, 190
	plotTop, plotBottom      = 34, 52
	legendLine, mostInLegend = 17, 15
)

// SVG writes the plot.
func (p *Plot) SVG(out io.Writer) error {
	d := &drawing{plot: p}
	d.axes()
	fmt.Fprintf(&d.text, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="sans-serif" font-size="12" role="img" aria-label="%s">`+"\n",
		plotWidth, plotHeight, plotWidth, plotHeight, html.EscapeString(p.Title))
	fmt.Fprintf(&d.text, `<text x="%d" y="18" font-size="14" font-weight="bold">%s</text>`+"\n", plotLeft, html.EscapeString(p.Title))
	d.frame()
	for i, s := range p.Series {
		if p.Bars != nil {
			d.bars(i, s)
		} else {
			d.line(i, s)
		}
		d.legend(i, s)
	}
	d.text.WriteString("</svg>\n")
	_, err := io.WriteString(out, d.text.String())
	return err
}

// drawing is a plot that is being drawn.
type drawing struct {
	plot *Plot
	x, y axis
	text strings.Builder
}

// axes finds what the axes have to show.
func (d *drawing) axes() {
	p := d.plot
	d.x, d.y = newAxis(p.LogX, plotLeft, plotWidth-plotRight), newAxis(p.LogY, plotHeight-plotBottom, plotTop)
	most := math.Inf(-1)
	for _, s := range p.Series {
		for _, v := range s.Points {
			d.x.see(v.X)
			d.y.see(v.Y)
			most = max(most, v.Y)
		}
	}
	for _, s := range p.Series {
		for _, v := range s.Points {
			if v.High > v.Low { // a wide interval must not make the rest flat: it may leave the picture
				d.y.see(min(v.High, 2*most))
				d.y.see(v.Low)
			}
		}
	}
	if !p.LogY {
		d.y.see(0)
	}
	d.y.round()
	if p.Bars != nil {
		d.x.low, d.x.high = -0.5, float64(len(p.Bars))-0.5
	} else {
		d.x.widen()
	}
}

// frame draws the axes, their ticks and their names.
func (d *drawing) frame() {
	p := d.plot
	for _, t := range d.y.ticks() {
		y := d.y.at(t)
		fmt.Fprintf(&d.text, `<line x1="%d" y1="%.1f" x2="%d" y2="%.1f" stroke="#e4e4e4"/><text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n",
			plotLeft, y, plotWidth-plotRight, y, plotLeft-6, y+4, html.EscapeString(tick(t)))
	}
	if p.Bars != nil {
		for i, name := range p.Bars {
			d.xTick(float64(i), name)
		}
	} else {
		for _, t := range d.places() {
			d.xTick(t, tick(t))
		}
	}
	fmt.Fprintf(&d.text, `<path d="M%d %d V%d H%d" fill="none" stroke="#333"/>`+"\n", plotLeft, plotTop, plotHeight-plotBottom, plotWidth-plotRight)
	fmt.Fprintf(&d.text, `<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", (plotLeft+plotWidth-plotRight)/2, plotHeight-10, html.EscapeString(p.X))
	fmt.Fprintf(&d.text, `<text transform="translate(16 %d) rotate(-90)" text-anchor="middle">%s</text>`+"\n", (plotTop+plotHeight-plotBottom)/2, html.EscapeString(p.Y))
}

// places are the ticks of the X axis: the values that were measured, unless they are too many.
func (d *drawing) places() []float64 {
	var places []float64
	last := math.Inf(-1)
	for _, v := range sortedX(d.plot.Series) {
		if d.plot.LogX && v <= 0 {
			continue
		}
		if x := d.x.at(v); x-last >= 26 {
			places, last = append(places, v), x
		}
	}
	return places
}

func (d *drawing) xTick(v float64, name string) {
	x := d.x.at(v)
	fmt.Fprintf(&d.text, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#333"/><text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n",
		x, plotHeight-plotBottom, x, plotHeight-plotBottom+5, x, plotHeight-plotBottom+18, html.EscapeString(name))
}

// line draws a series as a line with markers and confidence intervals.
func (d *drawing) line(i int, s Series) {
	var path strings.Builder
	dash := ""
	if s.Dashed {
		dash = ` stroke-dasharray="6 4"`
	}
	step := "M"
	for _, v := range s.Points {
		if d.hidden(v) {
			continue
		}
		fmt.Fprintf(&path, "%s%.1f %.1f ", step, d.x.at(v.X), d.y.at(v.Y))
		step = "L"
	}
	if path.Len() == 0 {
		return
	}
	fmt.Fprintf(&d.text, `<path d="%s" fill="none" stroke="%s" stroke-width="2"%s/>`+"\n", strings.TrimSpace(path.String()), colour(s.Colour), dash)
	if s.Dashed {
		return
	}
	for _, v := range s.Points {
		if !d.hidden(v) {
			d.whisker(d.x.at(v.X), v, s)
			d.marker(i, d.x.at(v.X), d.y.at(v.Y), s)
		}
	}
}

func (d *drawing) hidden(v Point) bool { return d.plot.LogX && v.X <= 0 || d.plot.LogY && v.Y <= 0 }

// bars draws a series as bars, each place's side by side.
func (d *drawing) bars(i int, s Series) {
	beside := float64(len(d.plot.Series))
	if d.plot.stacked {
		i, beside = 0, 1
	}
	wide := (d.x.at(1) - d.x.at(0)) * 0.8 / beside
	for _, v := range s.Points {
		if d.hidden(v) {
			continue
		}
		x := d.x.at(v.X) + wide*(float64(i)-beside/2)
		base := d.y.at(d.y.low)
		fmt.Fprintf(&d.text, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"><title>%s: %s</title></rect>`+"\n",
			x, d.y.at(v.Y), max(1, wide-1), max(0, base-d.y.at(v.Y)), colour(s.Colour), html.EscapeString(s.Name), digits(v.Y))
		d.whisker(x+wide/2, v, Series{Colour: 8})
	}
}

// whisker draws a confidence interval.
func (d *drawing) whisker(x float64, v Point, s Series) {
	if v.High <= v.Low || d.plot.LogY && v.Low <= 0 {
		return
	}
	low, high := d.y.at(v.Low), d.y.at(min(v.High, d.y.high))
	end := fmt.Sprintf("M%.1f %.1f H%.1f", x-3, high, x+3)
	if v.High > d.y.high { // an arrow: it goes on
		end = fmt.Sprintf("M%.1f %.1f L%.1f %.1f L%.1f %.1f", x-3, high+5, x, high, x+3, high+5)
	}
	fmt.Fprintf(&d.text, `<path d="M%.1f %.1f H%.1f M%.1f %.1f V%.1f %s" stroke="%s" fill="none"/>`+"\n",
		x-3, low, x+3, x, low, high, end, colour(s.Colour))
}

// marker draws a point. Each series has its own form, beside its colour.
func (d *drawing) marker(i int, x, y float64, s Series) {
	switch c := colour(s.Colour); i % 4 {
	case 0:
		fmt.Fprintf(&d.text, `<circle cx="%.1f" cy="%.1f" r="3.5" fill="%s"/>`+"\n", x, y, c)
	case 1:
		fmt.Fprintf(&d.text, `<rect x="%.1f" y="%.1f" width="7" height="7" fill="%s"/>`+"\n", x-3.5, y-3.5, c)
	case 2:
		fmt.Fprintf(&d.text, `<path d="M%.1f %.1f l4 7 h-8 z" fill="%s"/>`+"\n", x, y-4, c)
	default:
		fmt.Fprintf(&d.text, `<path d="M%.1f %.1f l4 4 l-4 4 l-4 -4 z" fill="%s"/>`+"\n", x, y-4, c)
	}
}

func (d *drawing) legend(i int, s Series) {
	x, y := float64(plotWidth-plotRight+14), float64(plotTop+8+legendLine*i)
	switch {
	case i == mostInLegend:
		fmt.Fprintf(&d.text, `<text x="%.0f" y="%.0f">and %d more</text>`+"\n", x, y+4, len(d.plot.Series)-i)
	case i > mostInLegend:
	case s.Dashed:
		fmt.Fprintf(&d.text, `<path d="M%.0f %.0f h16" stroke="%s" stroke-width="2" stroke-dasharray="6 4"/><text x="%.0f" y="%.0f">%s</text>`+"\n", x-8, y, colour(s.Colour), x+14, y+4, html.EscapeString(s.Name))
	default:
		if d.plot.Bars == nil {
			d.marker(i, x, y, s)
		} else {
			d.marker(1, x, y, s)
		}
		fmt.Fprintf(&d.text, `<text x="%.0f" y="%.0f">%s</text>`+"\n", x+14, y+4, html.EscapeString(s.Name))
	}
}
