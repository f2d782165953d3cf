// An image filter: a picture is blurred some times, and then perhaps only its edges are kept. It
// draws a picture if it is given none.
//
//	go run ./examples/filter -in photo.png -out blurred.png -passes 8
//	go run ./examples/filter -edges
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"log"
	"math"
	"os"

	"github.com/google/renameio/v2/maybe"
	"github.com/orwl/go-orwl/orwl"
	_ "github.com/orwl/go-orwl/orwl/nodes" // for several nodes
	"github.com/orwl/go-orwl/orwl/stencil"
	"github.com/orwl/go-orwl/orwl/stencil/show"
)

var (
	in     = flag.String("in", "", "the picture, a PNG file")
	out    = flag.String("out", "filtered.png", "where to write the result")
	passes = flag.Int("passes", 4, "how often the picture is blurred")
	edges  = flag.Bool("edges", false, "keep the edges of the blurred picture only")
	look   = show.Flags(flag.CommandLine) // -live, -plot, -progress
)

func main() {
	flag.Parse()
	if err := orwl.Run(context.Background(), orwl.Options{}, filter); err != nil {
		log.Fatal(err)
	}
}

// pixel is red, green, blue and opacity, as in package color.
type pixel = [4]uint16

func filter(ctx context.Context, rt *orwl.Runtime) error {
	from, err := read()
	if err != nil {
		return err
	}
	size := from.Bounds().Size()
	g := stencil.New(rt, stencil.Options{Size: stencil.Size{size.Y, size.X}, Corners: true})
	u := stencil.NewField(g, "pixels", stencil.FieldOptions[pixel]{Halo: stencil.Around(1), Initial: func(at []int) pixel {
		// Around the picture, the colours of its edge go on.
		y, x := min(max(at[0], 0), size.Y-1), min(max(at[1], 0), size.X-1)
		red, green, blue, opacity := from.At(from.Bounds().Min.X+x, from.Bounds().Min.Y+y).RGBA()
		return pixel{uint16(red), uint16(green), uint16(blue), uint16(opacity)}
	}})
	sweeps := *passes
	if *edges {
		sweeps++
	}
	err = g.Sweep(sweeps, func(b *stencil.Block) {
		for r := range b.Rows() {
			var around [9][]pixel
			for i := range around {
				around[i] = u.Old(r, i/3-1, i%3-1)
			}
			if b.Sweep() < *passes {
				blur(u.New(r), around)
			} else {
				edge(u.New(r), around)
			}
		}
	})
	if err != nil {
		return err
	}
	red := show.By(u, func(p pixel) float64 { return float64(p[0]) })
	if err := look.Run(ctx, red); err != nil {
		return err
	}
	pixels, err := u.Values(ctx)
	if err != nil || rt.Node() > 0 {
		return err
	}
	fmt.Printf("%v: %s\n", g, *out)
	return write(pixels, size)
}

// blur computes a row from the three rows around it, each shifted by -1, 0 and 1. Each cell counts as much as the
// product of 1, 2, 1 from above and from the left says.
func blur(to []pixel, around [9][]pixel) {
	// A column is a cell, the one above it and the one below, with weights of 1, 2 and 1. Two
	// colours are the halves of one number, with room for their sums.
	const halves = 0x0000ffff0000ffff
	number := func(p *pixel) uint64 { return uint64(p[0]) | uint64(p[1])<<16 | uint64(p[2])<<32 | uint64(p[3])<<48 }
	column := func(above, cell, below *pixel) (sum [2]uint64) {
		a, c, b := number(above), number(cell), number(below)
		return [2]uint64{a&halves + 2*(c&halves) + b&halves, a>>16&halves + 2*(c>>16&halves) + b>>16&halves}
	}
	above, row, below := around[2][:len(to)], around[5][:len(to)], around[8][:len(to)] // one to the east
	west, here := column(&around[0][0], &around[3][0], &around[6][0]), column(&around[1][0], &around[4][0], &around[7][0])
	for i := range to {
		east := column(&above[i], &row[i], &below[i])
		for c := range east {
			mean := (0x0000000800000008 + west[c] + 2*here[c] + east[c]) / 16
			to[i][c], to[i][c+2] = uint16(mean), uint16(mean>>32)
		}
		west, here = here, east
	}
}

// edge is how steep each colour is, by Sobel's operator.
func edge(to []pixel, around [9][]pixel) {
	for i := range to {
		for c := range 3 {
			at := func(k int) int { return int(around[k][i][c]) }
			across := at(2) + 2*at(5) + at(8) - at(0) - 2*at(3) - at(6)
			down := at(6) + 2*at(7) + at(8) - at(0) - 2*at(1) - at(2)
			to[i][c] = uint16(min(max(across, -across)+max(down, -down), 0xffff))
		}
		to[i][3] = 0xffff
	}
}

// read reads the picture, or draws one.
func read() (image.Image, error) {
	if *in == "" {
		return drawn(), nil
	}
	f, err := os.Open(*in)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return png.Decode(f)
}

// drawn is rings in three colours.
func drawn() image.Image {
	m := image.NewRGBA(image.Rect(0, 0, 320, 240))
	for y := range 240 {
		for x := range 320 {
			ring := func(cx, cy float64) uint8 {
				return uint8(255 * (int(math.Hypot(float64(x)-cx, float64(y)-cy)) / 30 % 2))
			}
			m.Set(x, y, color.RGBA{ring(100, 80), ring(220, 100), ring(160, 180), 255})
		}
	}
	return m
}

func write(pixels []pixel, size image.Point) error {
	m := image.NewRGBA64(image.Rectangle{Max: size})
	for i, p := range pixels {
		m.SetRGBA64(i%size.X, i/size.X, color.RGBA64{p[0], p[1], p[2], p[3]})
	}
	var file bytes.Buffer
	if err := png.Encode(&file, m); err != nil {
		return err
	}
	return maybe.WriteFile(*out, file.Bytes(), 0o666) // whole, or not at all
}
