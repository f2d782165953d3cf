package main

import (
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/orwl/go-orwl/examples/internal/forms"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/stencil"
)

// The picture that the blocks make is the one that a loop over the whole picture makes.
func TestFilter(t *testing.T) {
	*out, *passes, *edges = filepath.Join(t.TempDir(), "a.png"), 3, true
	first := run(t, drawn())
	*in = *out
	defer func() { *in = "" }()
	*out, *passes = filepath.Join(t.TempDir(), "b.png"), 2
	run(t, first)
}

// run filters a picture, checks the result and returns it.
func run(t *testing.T, from image.Image) image.Image {
	t.Helper()
	if err := orwl.Run(t.Context(), orwl.Options{}, filter); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(*out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	size := from.Bounds().Size()
	if got.Bounds().Size() != size {
		t.Fatalf("the result has %v pixels, want %v", got.Bounds().Size(), size)
	}
	initial := pixels(from)
	old, next := pixels(from), make([]pixel, len(initial))
	for pass := range *passes + 1 {
		for i := range next {
			var around [9][]pixel
			for k := range around {
				y, x := i/size.X+k/3-1, i%size.X+k%3-1
				cells := old
				if y < 0 || x < 0 || y >= size.Y || x >= size.X { // these do not change
					y, x, cells = min(max(y, 0), size.Y-1), min(max(x, 0), size.X-1), initial
				}
				around[k] = cells[y*size.X+x:][:1]
			}
			if pass < *passes {
				blur(next[i:i+1], around)
			} else {
				edge(next[i:i+1], around)
			}
		}
		old, next = next, old
	}
	bright := 0
	for i, p := range pixels(got) {
		if p != old[i] {
			t.Fatalf("pixel %d of row %d is %v, want %v", i%size.X, i/size.X, p, old[i])
		}
		if p[0] > 0x4000 {
			bright++
		}
	}
	if bright < 100 || bright > len(old)/2 {
		t.Errorf("%d of %d pixels are bright: these are no edges", bright, len(old))
	}
	return got
}

func pixels(m image.Image) (all []pixel) {
	b := m.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			red, green, blue, opacity := m.At(x, y).RGBA()
			all = append(all, pixel{uint16(red), uint16(green), uint16(blue), uint16(opacity)})
		}
	}
	return all
}

var kernel = forms.Kernel[pixel]{
	Name: "filter", Side: 1000, Sweeps: 20, Options: stencil.Options{Corners: true}, Away: forms.Square,
	Row: func(next []pixel, near [][]pixel) { blur(next, [9][]pixel(near)) },
}

func TestForms(t *testing.T) { kernel.Test(t) }

func BenchmarkForms(b *testing.B) { kernel.Benchmark(b) }
