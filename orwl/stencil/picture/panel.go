package picture

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"iter"
	"math"
	"strings"
)

// Panel is values on a grid.
type Panel struct {
	Title      string
	Rows, Cols int
	// Values are the rows from the top. Each is valid until the next one.
	Values iter.Seq[[]float64]
	// Least and Most are the ends of the legend. If both are zero, the values decide.
	Least, Most float64
	// Palette is Viridis by default.
	Palette Palette
	// Label is a number of the legend in words: in three digits by default.
	Label func(v float64) string
	// Blocks draws lines between so many rows and columns of blocks.
	Blocks struct{ Rows, Cols int }
	// Curve draws a single row as a curve.
	Curve bool
	// Long is how many pixels the longer side has: 480 by default.
	Long int
}

// Number is a type whose values have a place on a legend.
type Number interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~int | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// Cells are rows of so many cells, in the order of a grid: for Panel.Values.
func Cells[T Number](cells []T, cols int) iter.Seq[[]float64] {
	return func(yield func([]float64) bool) {
		row := make([]float64, cols)
		for rest := cells; len(rest) >= cols; rest = rest[cols:] {
			for i := range row {
				row[i] = float64(rest[i])
			}
			if !yield(row) {
				return
			}
		}
	}
}

// size is how large the panel is: true to the grid's shape unless that is very long.
func (p *Panel) size() image.Point {
	long := p.Long
	if long == 0 {
		long = panelLong
	}
	if p.Curve {
		return image.Pt(long, long/2)
	}
	longest := max(p.Rows, p.Cols)
	side := func(n int) int {
		return max(panelShort, int(math.Round(float64(long)*float64(n)/float64(longest))))
	}
	return image.Pt(side(p.Cols), side(p.Rows))
}

// Keep keeps the panel's values, as coarsely as it will be drawn: what they come from may change.
func (p *Panel) Keep() {
	a := p.average()
	p.Rows, p.Cols, p.Values = a.rows, a.cols, Cells(a.cells, a.cols)
}

// Span is the least and the greatest value that is drawn.
func (p *Panel) Span() (least, most float64) { return p.average().span() }

// average is values of no more rows and columns than a panel has pixels.
type average struct {
	rows, cols int
	cells      []float64
}

// average is the values as a panel's pixels show them.
func (p *Panel) average() average {
	size := p.size()
	return p.averageOf(min(p.Rows, size.Y), min(p.Cols, size.X))
}

// averageOf is the mean of the values that fall on each of so many rows and columns.
func (p *Panel) averageOf(rows, cols int) average {
	a := average{rows: rows, cols: cols}
	a.cells = make([]float64, a.rows*a.cols)
	counts := make([]float64, len(a.cells))
	i := 0
	for row := range p.Values {
		if i == p.Rows {
			break
		}
		from := i * a.rows / p.Rows * a.cols
		for j, v := range row[:p.Cols] {
			at := from + j*a.cols/p.Cols
			a.cells[at] += v
			counts[at]++
		}
		i++
	}
	for n := range a.cells {
		a.cells[n] /= counts[n]
	}
	return a
}

// span is the least and the greatest of the numbers. Without any it is 0 to 0.
func (a average) span() (least, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	for _, v := range a.cells {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			least, most = min(least, v), max(most, v)
		}
	}
	if least > most {
		return 0, 0
	}
	return least, most
}

// draw draws the panel with its upper left corner at a point, the title above it and the legend
// beside it.
func (p *Panel) draw(to draw.Image, at image.Point) {
	a := p.average()
	least, most := p.Least, p.Most
	if least == 0 && most == 0 {
		least, most = a.span()
	}
	palette := p.Palette
	if palette == nil {
		palette = Viridis()
	}
	size := p.size()
	write(to, at.Sub(image.Pt(0, titleHigh)), p.Title, rgb(0))
	if p.Curve {
		a.curve(to, at, size, palette, least, most)
	} else {
		for y := range size.Y {
			row := a.cells[y*a.rows/size.Y*a.cols:]
			for x := range size.X {
				to.Set(at.X+x, at.Y+y, palette.at(fraction(row[x*a.cols/size.X], least, most)))
			}
		}
	}
	p.lines(to, at, size)
	p.legend(to, at.Add(image.Pt(size.X+margin/2, 0)), size.Y, palette, least, most)
}

// curve draws the first row as columns as high as its values, in their colours, with a line on top.
func (a average) curve(to draw.Image, at, size image.Point, palette Palette, least, most float64) {
	draw.Draw(to, image.Rectangle{Min: at, Max: at.Add(size)}, image.NewUniform(rgb(0xF0F0F0)), image.Point{}, draw.Src)
	before := -1
	for x := range size.X {
		f := fraction(a.cells[x*a.cols/size.X], least, most)
		colour := palette.at(f)
		if colour == outOfRange {
			f = 1
		}
		top := int(math.Round((1 - f) * float64(size.Y-1)))
		if before < 0 {
			before = top
		}
		for y := top; y < size.Y; y++ {
			to.Set(at.X+x, at.Y+y, colour)
		}
		for y := min(before, top); y <= max(before, top); y++ {
			to.Set(at.X+x, at.Y+y, rgb(0))
		}
		before = top
	}
}

// lines separates the blocks, if they are large enough to be seen.
func (p *Panel) lines(to draw.Image, at, size image.Point) {
	rows, cols := p.Blocks.Rows, p.Blocks.Cols
	if rows == 0 || cols == 0 || min(size.X/cols, size.Y/rows) < 8 {
		return
	}
	grey := image.NewUniform(color.RGBA{0x60, 0x60, 0x60, 0xFF})
	for i := 1; i < rows; i++ {
		y := at.Y + i*size.Y/rows
		draw.Draw(to, image.Rect(at.X, y, at.X+size.X, y+1), grey, image.Point{}, draw.Src)
	}
	for j := 1; j < cols; j++ {
		x := at.X + j*size.X/cols
		draw.Draw(to, image.Rect(x, at.Y, x+1, at.Y+size.Y), grey, image.Point{}, draw.Src)
	}
}

// legend draws a bar of all colours, and three numbers beside it.
func (p *Panel) legend(to draw.Image, at image.Point, high int, palette Palette, least, most float64) {
	for y := range high {
		colour := palette.at(1 - float64(y)/float64(high-1))
		for x := range barWide {
			to.Set(at.X+x, at.Y+y, colour)
		}
	}
	label := p.Label
	if label == nil {
		label = func(v float64) string { return fmt.Sprintf("%.3g", v) }
	}
	for _, mark := range []float64{1, 0.5, 0} {
		y := int(math.Round((1 - mark) * float64(high-textHigh)))
		v := least + mark*(most-least)
		if math.Abs(v) < (most-least)/1e6 { // 1e-33 beside 1
			v = 0
		}
		write(to, at.Add(image.Pt(barWide+margin/4, y)), label(v), rgb(0))
	}
}

// fraction is how far v is from least to most. Where there is nothing in between, every number
// is in the middle.
func fraction(v, least, most float64) float64 {
	if least == most && v == least {
		return 0.5
	}
	if width := most - least; !math.IsInf(width, 0) {
		return (v - least) / width
	}
	return (v/2 - least/2) / (most/2 - least/2)
}

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
