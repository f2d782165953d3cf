package picture

import (
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/png"
	"io"
	"math"
	"time"

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

// Movie is pictures of one size, one after another.
type Movie struct{ frames gif.GIF }

// Add adds a picture that is shown for so long. Its panels need Least and Most, so that
// colours mean the same in all of them.
func (m *Movie) Add(p Picture, shown time.Duration) {
	from := p.Image()
	frame := image.NewPaletted(from.Bounds(), p.colours())
	nearest := make(map[color.RGBA]uint8) // a picture has few colours
	for i := range frame.Pix {
		c := color.RGBA{from.Pix[4*i], from.Pix[4*i+1], from.Pix[4*i+2], from.Pix[4*i+3]}
		index, known := nearest[c]
		if !known {
			index = uint8(frame.Palette.Index(c))
			nearest[c] = index
		}
		frame.Pix[i] = index
	}
	m.frames.Image = append(m.frames.Image, frame)
	m.frames.Delay = append(m.frames.Delay, int(shown/(10*time.Millisecond)))
}

// GIF writes the movie, which goes round for ever. A movie without a picture is an error.
func (m *Movie) GIF(to io.Writer) error { return gif.EncodeAll(to, &m.frames) }

// greys are the shades of letters.
const greys = 16

// colours are those that a picture needs: from black to white, two greys, and as many of its
// palettes as a GIF has room for.
func (p Picture) colours() (all color.Palette) {
	all = color.Palette{rgb(0x606060), rgb(0xF0F0F0), outOfRange}
	for i := range uint32(greys) {
		all = append(all, rgb(0x010101*(i*0xFF/(greys-1))))
	}
	each := (256 - len(all)) / max(1, len(p))
	for _, panel := range p {
		palette := panel.Palette
		if palette == nil {
			palette = Viridis()
		}
		for i := range each {
			all = append(all, palette.at(float64(i)/float64(each-1)))
		}
	}
	return all
}

// Palette is a colour map: colours at equal distances, which look as far from each other as they
// are. A value outside 0 to 1 has a colour of its own.
type Palette []color.RGBA

// Viridis and Magma are Matplotlib's, in ten colours. They keep their order in grey, and for
// people who see few colours.
func Viridis() Palette {
	return paletteOf(0x440154, 0x482878, 0x3E4989, 0x31688E, 0x26828E, 0x1F9E89, 0x35B779, 0x6DCD59, 0xB4DE2C, 0xFDE725)
}

// Magma goes from black to light yellow.
func Magma() Palette {
	return paletteOf(0x000004, 0x180F3D, 0x440F76, 0x721F81, 0x9E2F7F, 0xCD4071, 0xF1605D, 0xFD9668, 0xFECA8D, 0xFCFDBF)
}

func paletteOf(colours ...uint32) Palette {
	p := make(Palette, len(colours))
	for i, c := range colours {
		p[i] = rgb(c)
	}
	return p
}

func rgb(c uint32) color.RGBA { return color.RGBA{uint8(c >> 16), uint8(c >> 8), uint8(c), 0xFF} }

// outOfRange is the colour of values that the legend does not have.
var outOfRange = rgb(0xFF00FF)

// at is the colour of a value from 0 to 1.
func (p Palette) at(v float64) color.RGBA {
	if math.IsNaN(v) || v < 0 || v > 1 {
		return outOfRange
	}
	place := v * float64(len(p)-1)
	i := min(int(place), len(p)-2)
	part := place - float64(i)
	mix := func(x, y uint8) uint8 { return uint8(math.Round(float64(x)*(1-part) + float64(y)*part)) }
	a, b := p[i], p[i+1]
	return color.RGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 0xFF}
}
