package picture

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"math"
	"testing"
	"time"
)

// drawn is a picture of one panel, as it is read from its PNG.
func drawn(t *testing.T, p Panel) image.Image {
	t.Helper()
	var file bytes.Buffer
	if err := (Picture{p}).PNG(&file); err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(&file)
	if err != nil {
		t.Fatal(err)
	}
	return picture
}

// sums are rows whose values grow to the south east.
func sums(rows, cols int) Panel {
	cells := make([]int, 0, rows*cols)
	for i := range rows {
		for j := range cols {
			cells = append(cells, i+j)
		}
	}
	return Panel{Title: "sums", Rows: rows, Cols: cols, Values: Cells(cells, cols)}
}

// A panel is true to the shape of its grid, and its corners and its legend have the colours of the
// least and the greatest value.
func TestPanel(t *testing.T) {
	for _, c := range []struct {
		rows, cols int
		size       image.Point
	}{
		{6, 6, image.Pt(480, 480)},
		{200, 400, image.Pt(480, 240)},
		{2000, 1000, image.Pt(240, 480)},
		{1, 4096, image.Pt(480, 96)},
		{4096, 1, image.Pt(96, 480)},
	} {
		for _, p := range []Palette{Viridis(), Magma()} {
			panel := sums(c.rows, c.cols)
			panel.Palette = p
			picture := drawn(t, panel)
			want := image.Pt(c.size.X+panelStep+margin, c.size.Y+titleHigh+2*margin)
			if got := picture.Bounds().Size(); got != want {
				t.Errorf("%d×%d: the picture is %v, want %v", c.rows, c.cols, got, want)
			}
			at := image.Pt(margin, margin+titleHigh)
			first, last := picture.At(at.X, at.Y), picture.At(at.X+c.size.X-1, at.Y+c.size.Y-1)
			if first != p.at(0) || last != p.at(1) {
				t.Errorf("%d×%d: from %v to %v, want %v to %v", c.rows, c.cols, first, last, p.at(0), p.at(1))
			}
			bar := at.X + c.size.X + margin/2
			if top, bottom := picture.At(bar, at.Y), picture.At(bar, at.Y+c.size.Y-1); top != p.at(1) || bottom != p.at(0) {
				t.Errorf("%d×%d: the legend is from %v to %v", c.rows, c.cols, bottom, top)
			}
		}
	}
}

// The ends of a legend may be given. A value beyond them has a colour of its own.
func TestLegendIsGiven(t *testing.T) {
	panel := sums(2, 2)
	panel.Least, panel.Most = 0, 1
	picture := drawn(t, panel)
	at := image.Pt(margin, margin+titleHigh)
	for corner, want := range map[image.Point]color.RGBA{
		{}: Viridis().at(0), {X: 479}: Viridis().at(1), {X: 479, Y: 479}: outOfRange,
	} {
		if got := picture.At(at.X+corner.X, at.Y+corner.Y); got != want {
			t.Errorf("at %v: %v, want %v", corner, got, want)
		}
	}
}

// Lines are between blocks that are large enough to be seen.
func TestBlocks(t *testing.T) {
	panel := sums(8, 8)
	panel.Blocks.Rows, panel.Blocks.Cols = 2, 4
	picture := drawn(t, panel)
	grey := color.RGBA{0x60, 0x60, 0x60, 0xFF}
	at := image.Pt(margin, margin+titleHigh)
	if picture.At(at.X+5, at.Y+240) != grey || picture.At(at.X+120, at.Y+5) != grey || picture.At(at.X+5, at.Y+120) == grey {
		t.Error("the lines are elsewhere")
	}
	panel.Blocks.Rows, panel.Blocks.Cols = 200, 200
	if picture = drawn(t, panel); picture.At(at.X+5, at.Y+240) == grey {
		t.Error("there are lines between blocks of 2 pixels")
	}
}

// A value that is no number has a colour of its own, and is not in the legend.
func TestNoNumber(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		picture := drawn(t, Panel{Rows: 2, Cols: 2, Values: Cells([]float64{v, 1, 1, 2}, 2)})
		at := image.Pt(margin, margin+titleHigh)
		if got := picture.At(at.X, at.Y); got != outOfRange {
			t.Errorf("%v is drawn as %v", v, got)
		}
		if got := picture.At(at.X+479, at.Y+479); got != Viridis().at(1) {
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
	for n, p := range []Palette{Viridis(), Magma()} {
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

// Titles and legends are written, and a legend of nine characters ends before the next panel.
func TestLabels(t *testing.T) {
	panel := Panel{Title: "small", Rows: 2, Cols: 4, Values: Cells([]float64{0, -1.23e-5, 0, 0, 0, 0, 0, 0}, 4)}
	second := panel
	picture := Picture{panel, second}.Image()
	dark := func(r image.Rectangle) (pixels int) {
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for x := r.Min.X; x < r.Max.X; x++ {
				if color.GrayModel.Convert(picture.At(x, y)).(color.Gray).Y < 0x80 {
					pixels++
				}
			}
		}
		return pixels
	}
	size := panel.size()
	for n := range 2 {
		left := margin + n*(size.X+panelStep)
		legend := left + size.X + margin/2 + barWide
		if dark(image.Rect(left, margin, left+size.X, margin+textHigh)) == 0 {
			t.Errorf("panel %d has no title", n)
		}
		for _, top := range []int{0, size.Y - textHigh} {
			top += margin + titleHigh
			if dark(image.Rect(legend, top, legend+labelWide, top+textHigh)) == 0 {
				t.Errorf("the legend of panel %d has no number at %d", n, top)
			}
		}
		if next := left + size.X + panelStep; dark(image.Rect(legend+margin/4+labelWide, 0, next, picture.Bounds().Max.Y)) > 0 {
			t.Errorf("the legend of panel %d ends too late", n)
		}
	}
}

// A movie is a GIF with all of its pictures, in nearly the same colours. Letters have fewer shades.
func TestMovie(t *testing.T) {
	var m Movie
	for most := range 3 {
		panel := sums(4, 4)
		panel.Most = float64(6 + most)
		m.Add(Picture{panel}, time.Second/10)
	}
	var file bytes.Buffer
	if err := m.GIF(&file); err != nil {
		t.Fatal(err)
	}
	all, err := gif.DecodeAll(&file)
	if err != nil || len(all.Image) != 3 || all.Delay[0] != 10 {
		t.Fatalf("%v, %d pictures, %v", err, len(all.Image), all.Delay)
	}
	want := sums(4, 4)
	want.Most = 8
	most := uint32(5 << 8)
	near := func(a, b uint32) bool { return max(a, b)-min(a, b) < most }
	from := Picture{want}.Image()
	for y := range from.Bounds().Max.Y {
		for x := range from.Bounds().Max.X {
			r, g, b, _ := from.At(x, y).RGBA()
			if most = 5 << 8; r == g && g == b {
				most = 10 << 8
			}
			if r2, g2, b2, _ := all.Image[2].At(x, y).RGBA(); !near(r, r2) || !near(g, g2) || !near(b, b2) {
				t.Fatalf("at %d,%d: %v, want %v", x, y, all.Image[2].At(x, y), from.At(x, y))
			}
		}
	}
}
