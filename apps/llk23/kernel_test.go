package main

import (
	"math"
	"testing"
)

// TestListingRounds compares with the listing in which every operation is a
// call, so that no compiler can fuse two of them on any machine.
func TestListingRounds(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {1, 7}, {7, 1}, {5, 33}} {
		p := problem{rows: size[0], cols: size[1], iters: 3, kernel: listing(), values: smooth}
		got := reference(t, p)
		p.kernel = kernel{"rounded", sweepRounded}
		want := reference(t, p)
		for i := range p.rows + 2 {
			for j, v := range want.row(i) {
				if math.Float64bits(got.row(i)[j]) != math.Float64bits(v) {
					t.Fatalf("%v: (%d,%d) is %v, want %v", size, i, j, got.row(i)[j], v)
				}
			}
		}
	}
}

func sweepRounded(b *block, from, to int) {
	for i := from; i < to; i++ {
		data := func(i, j int) float64 { return b.row(i)[j] }
		z := func(p plane, j int) float64 { return b.coefficients(p, i)[j-1] }
		for j := 1; j <= b.cols; j++ {
			q := times(data(i-1, j), z(planeZb, j))
			q = plus(q, times(data(i, j-1), z(planeZv, j)))
			q = plus(q, times(data(i, j+1), z(planeZu, j)))
			q = plus(q, times(data(i+1, j), z(planeZr, j)))
			q = plus(q, z(planeZz, j))
			q = plus(q, -data(i, j))
			b.row(i)[j] = plus(data(i, j), times(0.175, q))
		}
	}
}

//go:noinline
func times(x, y float64) float64 { return x * y }

//go:noinline
func plus(x, y float64) float64 { return x + y }
