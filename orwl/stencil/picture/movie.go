package picture

import (
	"image"
	"image/color"
	"image/gif"
	"io"
	"time"
)

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
