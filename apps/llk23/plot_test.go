package main

import (
	"bytes"
	"image/color"
	"image/png"
	"testing"
	"time"

	"github.com/orwl/go-orwl/orwl/stencil"
)

// The picture has the field, and what each block has waited.
func TestPlot(t *testing.T) {
	grid, each := size{2, 4}, size{3, 3}
	whole := grid.times(each)
	cells := make([]float64, whole.cells())
	for i := range cells {
		cells[i] = float64(i/whole.cols + i%whole.cols)
	}
	r := &report{grid: grid, each: each, shares: make([]share, grid.cells())}
	for n := range r.shares {
		r.shares[n].time = float64(grid.cells()) / 1e9
		r.shares[n].account.Spent[stencil.Waiting] = time.Duration(n)
	}
	var file bytes.Buffer
	if err := r.plot(&file, cells); err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(&file)
	if err != nil {
		t.Fatal(err)
	}
	colours := make(map[color.Color]int)
	for y := range picture.Bounds().Max.Y {
		for x := range picture.Bounds().Max.X {
			colours[picture.At(x, y)]++
		}
	}
	if n := len(colours); n < whole.rows+whole.cols-1+len(r.shares) {
		t.Errorf("the picture has %d colours", n)
	}
	if n := colours[color.RGBA{0xFF, 0x00, 0xFF, 0xFF}]; n > 0 {
		t.Errorf("%d pixels have a value that the legends do not", n)
	}
}
