package picture

import (
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"

	"golang.org/x/image/font"
	"golang.org/x/image/font/inconsolata"
	"golang.org/x/image/math/fixed"
)

// Picture is panels side by side, each with a title and a legend:
//
//	field                              time waiting
//	┌───────────────┐ ┌─┐ most         ┌───────┬───────┐ ┌─┐ most
//	│               │ │ │              │       │       │ │ │
//	│               │ │ │              ├───────┼───────┤ │ │
//	│               │ │ │              │       │       │ │ │
//	└───────────────┘ └─┘ least        └───────┴───────┘ └─┘ least
type Picture []Panel

const (
	panelLong  = 480 // pixels of the longer side of a panel
	panelShort = 96  // of the shorter side, at least
	margin     = 20
	titleHigh  = textHigh + 10
	barWide    = 14
	labelWide  = 9 * textStep // for nine characters
	panelStep  = margin + barWide + margin/2 + labelWide
	textHigh   = 16 // of the face
	textStep   = 8
)

// Image draws the picture.
func (p Picture) Image() *image.RGBA {
	wide, high := margin, 0
	for _, panel := range p {
		size := panel.size()
		wide += size.X + panelStep
		high = max(high, size.Y)
	}
	canvas := image.NewRGBA(image.Rect(0, 0, wide, high+titleHigh+2*margin))
	draw.Draw(canvas, canvas.Bounds(), image.NewUniform(rgb(0xFFFFFF)), image.Point{}, draw.Src)
	at := image.Pt(margin, margin+titleHigh)
	for _, panel := range p {
		panel.draw(canvas, at)
		at.X += panel.size().X + panelStep
	}
	return canvas
}

// PNG writes the picture.
func (p Picture) PNG(to io.Writer) error { return png.Encode(to, p.Image()) }

// write draws a text with its upper left corner at a point.
func write(to draw.Image, at image.Point, text string, ink color.Color) {
	face := inconsolata.Regular8x16
	d := font.Drawer{Dst: to, Src: image.NewUniform(ink), Face: face, Dot: fixed.P(at.X, at.Y+face.Ascent)}
	d.DrawString(text)
}
