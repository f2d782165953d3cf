package picture

import (
	"fmt"
	"image/color"
	"strings"
)

// Text draws the panel as lines of text, in at most so many columns and lines. A character is two cells, one above the
// other: a terminal with colours shows both, and any other the mean of them.
//
// A small panel is magnified by a whole number.
func (p Panel) Text(cols, lines int, colours bool) string {
	rows := 2 * lines
	scale := 1
	for scale < mostScale && (scale+1)*p.Cols <= cols && (scale+1)*p.Rows <= rows {
		scale++
	}
	// A panel that is too large gets smaller and keeps its shape.
	wide, high := scale*p.Cols, scale*p.Rows
	if less := max(float64(wide)/float64(cols), float64(high)/float64(rows)); less > 1 {
		wide, high = max(1, int(float64(wide)/less)), max(1, int(float64(high)/less))
	}
	a := p.averageOf(min(p.Rows, high), min(p.Cols, wide))
	least, most := p.Least, p.Most
	if least == 0 && most == 0 {
		least, most = a.span()
	}
	palette := p.Palette
	if palette == nil {
		palette = Viridis()
	}
	at := func(y, x int) float64 { return fraction(a.cells[y*a.rows/high*a.cols+x*a.cols/wide], least, most) }
	var b strings.Builder
	for y := 0; y < high; y += 2 {
		var above, below color.RGBA
		for x := range wide {
			up := at(y, x)
			down := at(min(y+1, high-1), x)
			if !colours {
				b.WriteByte(shade(up, down))
				continue
			}
			if c := palette.at(up); x == 0 || c != above {
				above = c
				fmt.Fprintf(&b, "\x1b[38;2;%d;%d;%dm", c.R, c.G, c.B)
			}
			if c := palette.at(down); x == 0 || c != below {
				below = c
				fmt.Fprintf(&b, "\x1b[48;2;%d;%d;%dm", c.R, c.G, c.B)
			}
			b.WriteString("▀")
		}
		if colours {
			b.WriteString("\x1b[0m")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// mostScale is how often a small panel is magnified at most.
const mostScale = 4

// shades are characters from the least value to the greatest.
const shades = " .:-=+*#%@"

// shade is the character of two values from 0 to 1: of their mean.
func shade(up, down float64) byte {
	if !(min(up, down) >= 0 && max(up, down) <= 1) { // or NaN
		return '?'
	}
	return shades[min(int((up+down)/2*float64(len(shades))), len(shades)-1)]
}
