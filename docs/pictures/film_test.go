package main

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// film is a GIF of frames whose colour at a point is given.
func film(t *testing.T, side, frames int, at func(frame, x, y int) uint8) []byte {
	t.Helper()
	var palette color.Palette
	for i := range 256 {
		palette = append(palette, color.RGBA{uint8(i), uint8(255 - i), uint8(i / 2), 0xFF})
	}
	var g gif.GIF
	for k := range frames {
		f := image.NewPaletted(image.Rect(0, 0, side, side), palette)
		for p := range f.Pix {
			f.Pix[p] = at(k, p%side, p/side)
		}
		g.Image, g.Delay = append(g.Image, f), append(g.Delay, 7)
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, &g); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A small film has all that changes, and the last frame as it was.
func TestShrink(t *testing.T) {
	from := film(t, 40, 20, func(frame, x, y int) uint8 {
		if x/2 == frame {
			return 200
		}
		return 10
	})
	var out bytes.Buffer
	if err := shrink(&out, bytes.NewReader(from)); err != nil {
		t.Fatal(err)
	}
	small, err := gif.DecodeAll(&out)
	if err != nil || len(small.Image) != 20 || small.Image[0].Bounds().Dx() != 20 {
		t.Fatalf("%d frames, %v", len(small.Image), err)
	}
	shown := image.NewRGBA(small.Image[0].Bounds()) // a browser shows it so
	for k, f := range small.Image {
		for p, index := range f.Pix {
			if _, _, _, a := f.Palette[index].RGBA(); a > 0 {
				shown.Set(p%20, p/20, f.Palette[index])
			}
		}
		for x := range 20 {
			if white := shown.RGBAAt(x, 5).R == 200; white != (x == k) {
				t.Errorf("frame %d, column %d: %v", k, x, shown.RGBAAt(x, 5))
			}
		}
	}
	// Noise does not become small.
	dice := rand.New(rand.NewPCG(1, 1))
	noise := film(t, 500, leastFrames, func(int, int, int) uint8 { return uint8(dice.IntN(256)) })
	if err := shrink(&out, bytes.NewReader(noise)); !errors.Is(err, errTooLarge) {
		t.Errorf("noise: %v", err)
	}
}

// The films of the README are small, and films.
func TestFilms(t *testing.T) {
	for _, name := range []string{"wave", "spots", "life"} {
		b, err := os.ReadFile(filepath.Join(".", name+".gif"))
		if err != nil {
			t.Error(err)
			continue
		}
		if g, err := gif.DecodeAll(bytes.NewReader(b)); err != nil || len(b) > mostBytes || len(g.Image) < leastFrames {
			t.Errorf("%s has %d bytes, %v", name, len(b), err)
		}
	}
}
