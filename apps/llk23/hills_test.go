package main

import (
	"math"
	"testing"
)

// TestHills compares with Gaussian hills by math.Exp, and the bits with those that
// every machine must make.
func TestHills(t *testing.T) {
	whole := size{60, 90}
	m := newMatrix(whole.rows+2, whole.cols+2)
	values := hills(whole)
	for i := range whole.rows + 2 {
		for j := range whole.cols + 2 {
			y, x := float64(i)/61, float64(j)/91
			want := (x + y) / 4
			for _, h := range [][4]float64{{0.30, 0.35, 0.10, 1}, {0.65, 0.70, 0.07, 0.75}, {0.75, 0.25, 0.14, 0.5}} {
				want += h[3] * math.Exp(-(math.Pow(y-h[0], 2)+math.Pow(x-h[1], 2))/(2*h[2]*h[2]))
			}
			got := values(planeData, i, j)
			if math.Abs(got-want) > 0.002 {
				t.Fatalf("data at (%d,%d) is %v, want about %v", i, j, got, want)
			}
			m.row(i)[j] = got
		}
	}
	if got, want := sha(t, rows(m)), "3d9524ba735c09c6c1ed6939ae220055d15c0a86cae6dcc26ee0362c514af42c"; got != want {
		t.Errorf("sha256 %s, want %s", got, want)
	}
}

// TestHillsTellPlanesApart checks that a sweep which confuses two planes, or two places, has
// another result: otherwise the default run would not notice.
func TestHillsTellPlanesApart(t *testing.T) {
	values := hills(size{20, 30})
	seen := make(map[float64]plane)
	for p := planeZb; p < planes; p++ {
		v := values(p, 5, 9)
		if q, twice := seen[v]; twice {
			t.Errorf("planes %d and %d have the same element", q, p)
		}
		seen[v] = p
		if values(p, 6, 9) == v && values(p, 5, 10) == v {
			t.Errorf("plane %d is the same everywhere", p)
		}
	}
	if sum := values(planeZb, 5, 9) + values(planeZr, 5, 9) + values(planeZu, 5, 9) + values(planeZv, 5, 9); math.Abs(sum-1) > 1e-15 {
		t.Errorf("the coefficients of an element add up to %v, want 1", sum)
	}
}
