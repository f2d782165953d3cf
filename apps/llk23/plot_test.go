package main

import (
	"bytes"
	"image/color"
	"image/png"
	"testing"

	"github.com/orwl/go-orwl/orwl/stencil"
)

// The picture has the field without its ring, and what each block has waited.
func TestPlot(t *testing.T) {
	grid, each := size{2, 4}, size{3, 3}
	whole := grid.times(each)
	m := newMatrix(whole.rows+2, whole.cols+2)
	for i := range whole.rows + 2 {
		for j := range whole.cols + 2 {
			if m.row(i)[j] = float64(i + j); i == 0 || j == 0 || i > whole.rows || j > whole.cols {
				m.row(i)[j] = 1e9 // a legend with it would show nothing else
			}
		}
	}
	r := &report{grid: grid, each: each, shares: make([]share, grid.cells())}
	for n := range r.shares {
		r.shares[n].spent[stencil.Waiting] = float64(n) / float64(grid.cells())
	}
	var file bytes.Buffer
	if err := r.plot(&file, rows(m)); err != nil {
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
