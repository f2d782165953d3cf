package main

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"iter"
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
)

// A picture has two panels of the same shape as the matrix, each with a legend:
//
//	field                              time waiting
//	┌───────────────┐ ┌─┐ most         ┌───────┬───────┐ ┌─┐ most
//	│               │ │ │              │       │       │ │ │
//	│               │ │ │              ├───────┼───────┤ │ │
//	│               │ │ │              │       │       │ │ │
//	└───────────────┘ └─┘ least        └───────┴───────┘ └─┘ least
const (
	panelLong  = 480 // pixels of the longer side of a panel
	panelShort = 96  // of the shorter side, at least
	margin     = 20
	titleHigh  = textHigh + 10
	barWide    = 14
	labelWide  = 9 * textStep // for nine characters
	panelStep  = margin + barWide + margin/2 + labelWide
	textHigh   = 13 // of the face
	textStep   = 7
)

// panelSize is how large the picture of a matrix is: true to its shape unless
// that is very long.
func panelSize(matrix size) image.Point {
	longest := max(matrix.rows, matrix.cols)
	side := func(n int) int {
		return max(panelShort, int(math.Round(panelLong*float64(n)/float64(longest))))
	}
	return image.Pt(side(matrix.cols), side(matrix.rows))
}

// plot draws the field, whose rows are given, and how much each block waited. The
// ring is left out, which would be most of the legend and little of the picture.
func (r *report) plot(to io.Writer, rows iter.Seq2[int, []float64]) error {
	whole := r.grid.times(r.each)
	panel := panelSize(whole)
	canvas := image.NewRGBA(image.Rect(0, 0, 2*(panel.X+panelStep)+margin, panel.Y+titleHigh+2*margin))
	draw.Draw(canvas, canvas.Bounds(), image.NewUniform(rgb(0xFFFFFF)), image.Point{}, draw.Src)

	left := image.Pt(margin, margin+titleHigh)
	field := reduce(rows, whole, size{min(whole.rows, panel.Y), min(whole.cols, panel.X)})
	field.draw(canvas, left, panel, "field", viridis(), field.span(), "%.3g", 1)

	waited := newMatrix(r.grid.rows, r.grid.cols)
	for i, s := range r.shares {
		waited.cells[i] = s.waiting()
	}
	right := left.Add(image.Pt(panel.X+panelStep, 0))
	chart(waited).draw(canvas, right, panel, "time waiting", magma(), limits{0, 1}, "%.0f%%", 100)
	if cell := min(panel.X/r.grid.cols, panel.Y/r.grid.rows); cell >= 8 {
		r.lines(canvas, right, panel)
	}
	return png.Encode(to, canvas)
}

// lines separates the blocks.
func (r *report) lines(to draw.Image, at, panel image.Point) {
	grey := image.NewUniform(color.RGBA{0x60, 0x60, 0x60, 0xFF})
	for i := 1; i < r.grid.rows; i++ {
		y := at.Y + i*panel.Y/r.grid.rows
		draw.Draw(to, image.Rect(at.X, y, at.X+panel.X, y+1), grey, image.Point{}, draw.Src)
	}
	for j := 1; j < r.grid.cols; j++ {
		x := at.X + j*panel.X/r.grid.cols
		draw.Draw(to, image.Rect(x, at.Y, x+1, at.Y+panel.Y), grey, image.Point{}, draw.Src)
	}
}

// reduce is the interior of a matrix, averaged to fewer elements.
func reduce(rows iter.Seq2[int, []float64], from, to size) chart {
	sum, count := newMatrix(to.rows, to.cols), newMatrix(to.rows, to.cols)
	for i, row := range rows {
		if i == 0 || i > from.rows {
			continue
		}
		i--
		sums, counts := sum.row(i*to.rows/from.rows), count.row(i*to.rows/from.rows)
		for j, v := range row[1 : 1+from.cols] {
			sums[j*to.cols/from.cols] += v
			counts[j*to.cols/from.cols]++
		}
	}
	for n := range sum.cells {
		sum.cells[n] /= count.cells[n]
	}
	return chart(sum)
}

// chart is values to be drawn.
type chart matrix

// limits are the values at the ends of a legend.
type limits struct{ least, most float64 }

// draw draws the values as a panel with a title and a legend, written in a format after scaling.
// Values beyond the legend, NaN and infinities have a colour of their own.
func (c chart) draw(to draw.Image, at, panel image.Point, title string, p palette, s limits, format string, scale float64) {
	least, most := s.least, s.most
	black := rgb(0)
	write(to, at.Sub(image.Pt(0, titleHigh)), title, black)
	rows := len(c.cells) / c.cols
	for y := range panel.Y {
		row := matrix(c).row(y * rows / panel.Y)
		for x := range panel.X {
			v := row[x*c.cols/panel.X]
			to.Set(at.X+x, at.Y+y, p.at(fraction(v, least, most)))
		}
	}
	bar := at.Add(image.Pt(panel.X+margin/2, 0))
	for y := range panel.Y {
		colour := p.at(1 - float64(y)/float64(panel.Y-1))
		for x := range barWide {
			to.Set(bar.X+x, bar.Y+y, colour)
		}
	}
	label := bar.Add(image.Pt(barWide+margin/4, 0))
	for _, mark := range []float64{1, 0.5, 0} {
		y := int(math.Round((1 - mark) * float64(panel.Y-textHigh)))
		text := fmt.Sprintf(format, scale*(least+mark*(most-least)))
		write(to, label.Add(image.Pt(0, y)), text, black)
	}
}

// span is the least and the greatest of the numbers. Without any it is 0 to 0.
func (c chart) span() limits {
	least, most := math.Inf(1), math.Inf(-1)
	for _, v := range c.cells {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			least, most = min(least, v), max(most, v)
		}
	}
	if least > most {
		return limits{}
	}
	return limits{least, most}
}

// fraction is how far v is from least to most. Where there is nothing in between,
// every number is in the middle.
func fraction(v, least, most float64) float64 {
	if least == most && v == least {
		return 0.5
	}
	if width := most - least; !math.IsInf(width, 0) {
		return (v - least) / width
	}
	return (v/2 - least/2) / (most/2 - least/2)
}

// write draws a text with its upper left corner at a point.
func write(to draw.Image, at image.Point, text string, ink color.Color) {
	face := basicfont.Face7x13
	d := font.Drawer{Dst: to, Src: image.NewUniform(ink), Face: face, Dot: fixed.P(at.X, at.Y+face.Ascent)}
	d.DrawString(text)
}
