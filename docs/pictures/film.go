package main

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"io"
)

// Bounds of a film in the README.
const (
	mostBytes   = 290_000
	mostColours = 32
	leastFrames = 12
)

var errTooLarge = errors.New("pictures: the film is too large, even with few frames: film less")

// shrink makes a film of half the width, few colours and as many frames as fit. It reads a GIF of package show.
func shrink(to io.Writer, from io.Reader) error {
	film, err := gif.DecodeAll(from)
	if err != nil {
		return err
	}
	frames := make([]*image.RGBA, len(film.Image))
	used := make(map[color.RGBA]int)
	for i, f := range film.Image {
		frames[i] = half(f)
		for at := 0; at < len(frames[i].Pix); at += 4 {
			used[pixel(frames[i], at)]++
		}
	}
	colours := spread(used, mostColours-1)
	for every := 1; len(frames)/every >= leastFrames || every == 1; every++ {
		var out bytes.Buffer
		if err := gif.EncodeAll(&out, pack(frames, film.Delay, every, colours)); err != nil {
			return err
		}
		if out.Len() <= mostBytes {
			_, err := out.WriteTo(to)
			return err
		}
	}
	return errTooLarge
}

func pixel(f *image.RGBA, at int) color.RGBA {
	return color.RGBA{f.Pix[at], f.Pix[at+1], f.Pix[at+2], 0xFF}
}

// half is a frame of half the width and height: each point is the mean of four.
func half(f image.Image) *image.RGBA {
	b := f.Bounds()
	out := image.NewRGBA(image.Rect(0, 0, b.Dx()/2, b.Dy()/2))
	for y := range b.Dy() / 2 {
		for x := range b.Dx() / 2 {
			var sum [3]uint32
			for k := range 4 {
				r, g, b, _ := f.At(b.Min.X+2*x+k%2, b.Min.Y+2*y+k/2).RGBA()
				sum[0], sum[1], sum[2] = sum[0]+r, sum[1]+g, sum[2]+b
			}
			out.SetRGBA(x, y, color.RGBA{uint8(sum[0] / 4 >> 8), uint8(sum[1] / 4 >> 8), uint8(sum[2] / 4 >> 8), 0xFF})
		}
	}
	return out
}

// spread chooses n colours: first the one that is used most, and then again and again the one that is farthest from all that
// were chosen.
func spread(used map[color.RGBA]int, n int) (chosen color.Palette) {
	far := make(map[color.RGBA]int, len(used))
	var next color.RGBA
	for c, times := range used {
		if far[c] = 1 << 30; times > used[next] || times == used[next] && less(c, next) {
			next = c
		}
	}
	for len(chosen) < n && len(chosen) < len(used) {
		chosen = append(chosen, next)
		last := next
		best := -1
		for c := range far {
			far[c] = min(far[c], apart(c, last))
			if far[c] > best || far[c] == best && less(c, next) {
				best, next = far[c], c
			}
		}
	}
	return chosen
}

func less(a, b color.RGBA) bool {
	return int(a.R)<<16+int(a.G)<<8+int(a.B) < int(b.R)<<16+int(b.G)<<8+int(b.B)
}

func apart(a, b color.RGBA) int {
	r, g, c := int(a.R)-int(b.R), int(a.G)-int(b.G), int(a.B)-int(b.B)
	return r*r + g*g + c*c
}

// pack makes a film of every so many frames, and the last one. A point that stays as it is, is transparent.
func pack(frames []*image.RGBA, delays []int, every int, colours color.Palette) *gif.GIF {
	palette := append(color.Palette{color.RGBA{}}, colours...)
	nearest := make(map[color.RGBA]uint8)
	out := new(gif.GIF)
	var before []uint8
	for i := 0; i < len(frames); i++ {
		last := i == len(frames)-1
		if i%every != 0 && !last {
			continue
		}
		f := frames[i]
		now := make([]uint8, len(f.Pix)/4)
		for p := range now {
			c := pixel(f, 4*p)
			index, known := nearest[c]
			if !known {
				index = uint8(1 + colours.Index(c))
				nearest[c] = index
			}
			now[p] = index
		}
		frame := image.NewPaletted(f.Bounds(), palette)
		for p := range now {
			if before == nil || now[p] != before[p] {
				frame.Pix[p] = now[p]
			}
		}
		before = now
		delay := delays[i]
		if !last {
			delay *= every
		}
		out.Image, out.Delay, out.Disposal = append(out.Image, frame), append(out.Delay, delay), append(out.Disposal, gif.DisposalNone)
	}
	return out
}
