package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// curve is a number after each sweep.
type curve struct {
	name   string
	sweeps []int
	values []float64
}

// readCurve reads lines of a sweep and a number. It leaves out all other lines.
func readCurve(file string) (c curve, err error) {
	text, err := os.ReadFile(file)
	c.name = filepath.Base(file)
	for line := range strings.Lines(string(text)) {
		var sweep int
		var v float64
		if n, _ := fmt.Sscanf(line, "%d %g\n", &sweep, &v); n == 2 && v > 0 {
			c.sweeps, c.values = append(c.sweeps, sweep), append(c.values, v)
		}
	}
	if err == nil && len(c.values) == 0 {
		err = fmt.Errorf("pictures: %s has no line of a sweep and a number", file)
	}
	return c, err
}

const (
	plotWide, plotHigh = 560, 260
	plotLeft, plotTop  = 50, 14
	plotBelow          = 34
)

// Blue and orange are told apart by all eyes, and the second line has dashes.
var strokes = []string{`stroke="#0072b2"`, `stroke="#d55e00" stroke-dasharray="7 3"`}

// plot writes curves over sweeps. One step up is a power of ten.
func plot(to io.Writer, curves []curve) error {
	last, low, high := 1, math.Inf(1), math.Inf(-1)
	for _, c := range curves {
		last = max(last, c.sweeps[len(c.sweeps)-1])
		for _, v := range c.values {
			low, high = min(low, math.Floor(math.Log10(v))), max(high, math.Ceil(math.Log10(v)))
		}
	}
	x := func(sweep int) float64 { return plotLeft + plotWide*float64(sweep)/float64(last) }
	y := func(power float64) float64 { return plotTop + plotHigh*(high-power)/max(1, high-low) }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n",
		plotLeft+plotWide+20, plotTop+plotHigh+plotBelow)
	b.WriteString(`<rect width="100%" height="100%" fill="#fff"/>` + "\n")
	for power := low; power <= high; power += 2 {
		fmt.Fprintf(&b, `<path d="M%d %.1fh%d" stroke="#ccc"/><text x="%d" y="%.1f" text-anchor="end">1e%.0f</text>`+"\n",
			plotLeft, y(power), plotWide, plotLeft-6, y(power)+4, power)
	}
	for sweep := 0; sweep <= last; sweep += 100 {
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle">%d</text>`+"\n", x(sweep), plotTop+plotHigh+18, sweep)
	}
	for i, c := range curves {
		stroke := strokes[i%len(strokes)]
		fmt.Fprintf(&b, `<polyline fill="none" %s stroke-width="1.5" points="`, stroke)
		for k, v := range c.values {
			fmt.Fprintf(&b, "%.1f,%.1f ", x(c.sweeps[k]), y(math.Log10(v)))
		}
		b.WriteString("\"/>\n")
		line := plotTop + plotHigh - 14 - 18*(len(curves)-1-i)
		fmt.Fprintf(&b, `<path d="M%d %dh30" %s stroke-width="1.5"/><text x="%d" y="%d">%s</text>`+"\n", plotLeft+12, line, stroke, plotLeft+50, line+4, c.name)
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(to, b.String())
	return err
}
