package picture

import (
	"image/color"
	"math"
)

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
