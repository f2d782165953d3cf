package main

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"testing"
)

func pictured(t *testing.T, grid, each size, value func(i, j int) float64, waits func(block int) float64) image.Image {
	t.Helper()
	whole := grid.times(each)
	m := newMatrix(whole.rows+2, whole.cols+2)
	for i := range whole.rows + 2 {
		for j := range whole.cols + 2 {
			m.row(i)[j] = value(i, j)
		}
	}
	r := &report{grid: grid, each: each, shares: make([]share, grid.cells())}
	for n := range r.shares {
		r.shares[n].spent[waiting] = waits(n)
	}
	var file bytes.Buffer
	if err := r.plot(&file, rows(m)); err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(&file)
	if err != nil {
		t.Fatal(err)
	}
	return picture
}

func TestPlot(t *testing.T) {
	for _, c := range []struct {
		grid, each size
		panel      image.Point
	}{
		{size{1, 1}, size{1, 1}, image.Pt(480, 480)},
		{size{2, 2}, size{3, 3}, image.Pt(480, 480)},
		{size{2, 4}, size{100, 100}, image.Pt(480, 240)},
		{size{4, 2}, size{500, 500}, image.Pt(240, 480)},
		{size{1, 64}, size{1, 64}, image.Pt(480, 96)},
		{size{64, 1}, size{64, 1}, image.Pt(96, 480)},
	} {
		// The south east is large; so much more is the ring that a legend with it shows.
		picture := pictured(t, c.grid, c.each, func(i, j int) float64 {
			if whole := c.grid.times(c.each); i == 0 || j == 0 || i > whole.rows || j > whole.cols {
				return 1e9
			}
			return float64(i + j)
		}, func(block int) float64 { return float64(block) / float64(c.grid.cells()) })
		want := image.Pt(2*(c.panel.X+panelStep)+margin, c.panel.Y+titleHigh+2*margin)
		if got := picture.Bounds().Size(); got != want {
			t.Errorf("%v of %v: the picture is %v, want %v", c.grid, c.each, got, want)
		}
		if c.grid.times(c.each) == (size{1, 1}) {
			continue
		}
		for n, p := range []palette{viridis(), magma()} {
			at := image.Pt(margin+n*(c.panel.X+panelStep), margin+titleHigh)
			first, last := picture.At(at.X, at.Y), picture.At(at.X+c.panel.X-1, at.Y+c.panel.Y-1)
			most := 1.0
			if n == 1 { // the legend of the time waiting is from 0 to 100 %, whatever the blocks wait
				most -= 1 / float64(c.grid.cells())
			}
			if first != p.at(0) || last != p.at(most) {
				t.Errorf("%v of %v, panel %d: from %v to %v, want %v to %v", c.grid, c.each, n, first, last, p.at(0), p.at(most))
			}
			bar := at.X + c.panel.X + margin/2
			if top, bottom := picture.At(bar, at.Y), picture.At(bar, at.Y+c.panel.Y-1); top != p.at(1) || bottom != p.at(0) {
				t.Errorf("%v of %v, panel %d: the legend is from %v to %v", c.grid, c.each, n, bottom, top)
			}
		}
	}
}

// TestPlotOfWhatIsNoNumber draws fields that a legend cannot describe.
func TestPlotOfWhatIsNoNumber(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		picture := pictured(t, size{1, 1}, size{2, 2}, func(i, j int) float64 {
			if i == 1 && j == 1 {
				return v
			}
			return float64(i + j)
		}, func(int) float64 { return 0.5 })
		at := image.Pt(margin, margin+titleHigh)
		if got := picture.At(at.X, at.Y); got != color.Color(viridis().at(math.NaN())) {
			t.Errorf("%v is drawn as %v", v, got)
		}
		if got := picture.At(at.X+479, at.Y+479); got != color.Color(viridis().at(1)) {
			t.Errorf("beside %v, the greatest number is drawn as %v", v, got)
		}
	}
}

func TestFraction(t *testing.T) {
	for _, c := range []struct{ v, least, most, want float64 }{
		{1, 1, 3, 0}, {2, 1, 3, 0.5}, {3, 1, 3, 1},
		{7, 7, 7, 0.5}, {0.1, 0.1, 0.7, 0}, {0.7, 0.1, 0.7, 1},
		{math.MaxFloat64, -math.MaxFloat64, math.MaxFloat64, 1}, {0, -math.MaxFloat64, math.MaxFloat64, 0.5},
	} {
		if got := fraction(c.v, c.least, c.most); got != c.want {
			t.Errorf("%v from %v to %v is %v, want %v", c.v, c.least, c.most, got, c.want)
		}
	}
}

// TestPalettes checks that colours become lighter all the way, so that they are
// still in order in grey.
func TestPalettes(t *testing.T) {
	for n, p := range []palette{viridis(), magma()} {
		before := -1.0
		for i := range 101 {
			c := p.at(float64(i) / 100)
			if light := 0.2126*float64(c.R) + 0.7152*float64(c.G) + 0.0722*float64(c.B); light < before {
				t.Errorf("palette %d is darker at %d %% than before", n, i)
			} else {
				before = light
			}
		}
	}
}

// TestLabels checks that titles and legends are written, and that a legend of nine characters ends
// before the next panel.
func TestLabels(t *testing.T) {
	picture := pictured(t, size{1, 2}, size{2, 2}, func(i, j int) float64 { return -1.23e-5 * float64(i*j) }, func(int) float64 { return 0.5 })
	dark := func(r image.Rectangle) (pixels int) {
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for x := r.Min.X; x < r.Max.X; x++ {
				if picture.At(x, y) == color.RGBAModel.Convert(color.Black) {
					pixels++
				}
			}
		}
		return pixels
	}
	panel := panelSize(size{2, 4})
	for n := range 2 {
		left := margin + n*(panel.X+panelStep)
		legend := left + panel.X + margin/2 + barWide
		if dark(image.Rect(left, margin, left+panel.X, margin+textHigh)) == 0 {
			t.Errorf("panel %d has no title", n)
		}
		for _, top := range []int{0, panel.Y - textHigh} {
			top += margin + titleHigh
			if dark(image.Rect(legend, top, legend+labelWide, top+textHigh)) == 0 {
				t.Errorf("the legend of panel %d has no number at %d", n, top)
			}
		}
		if next := left + panel.X + panelStep; dark(image.Rect(legend+margin/4+labelWide, 0, next, picture.Bounds().Max.Y)) > 0 {
			t.Errorf("the legend of panel %d ends too late", n)
		}
	}
}
