package main

import (
	"fmt"
	"testing"
)

// lfkProblem is the original's sweep of length n, 2..n in its own numbering.
func lfkProblem(n, iters int, k kernel) problem {
	return problem{rows: lfkSize.rows, cols: n - 1, iters: iters, kernel: k, values: lfk}
}

// lfkChecksum adds m times the m-th value of the plane, m = 1..7n.
func lfkChecksum(n int, b *block) string {
	stream := lfkStream()
	sum := 0.0
	for m := range 7 * n {
		v := stream[lfkPlanes[planeData]+m]
		if i, j := m/lfkColumn, m%lfkColumn; j < b.cols+2 {
			v = b.row(i)[j]
		}
		sum += float64(float64(m+1) * v)
	}
	return fmt.Sprintf("%.15e", sum)
}

// sweepOriginal is the original's order of additions: south, north, east, west.
func sweepOriginal(b *block, from, to int) {
	for i := from; i < to; i++ {
		north, here, south := b.row(i-1), b.row(i), b.row(i+1)
		z := func(p plane, j int) float64 { return b.coefficients(p, i)[j-1] }
		for j := 1; j <= b.cols; j++ {
			q := float64(south[j]*z(planeZr, j)) + float64(north[j]*z(planeZb, j)) +
				float64(here[j+1]*z(planeZu, j)) + float64(here[j-1]*z(planeZv, j)) + z(planeZz, j)
			here[j] += float64(0.175 * (q - here[j]))
		}
	}
}

// TestLFK compares with the published checksums. All 16 digits agree in the
// original's order of additions. The paper's listing adds north, west, east,
// south, which rounds differently: two of its checksums end in another digit.
func TestLFK(t *testing.T) {
	for _, c := range []struct {
		n, iters  int
		published string
		listing   string // where it is not the same
	}{
		{n: 100, iters: 8, published: "3.138872788135057e+04"},
		{n: 100, iters: 10, published: "3.228104575530876e+04"},
		{n: 100, iters: 80, published: "3.549834542443621e+04", listing: "3.549834542443620e+04"},
		{n: 100, iters: 100, published: "3.549894609774404e+04", listing: "3.549894609774403e+04"},
		{n: 100, iters: 400, published: "3.549900501563623e+04"},
		{n: 100, iters: 500, published: "3.549900501563623e+04"},
		{n: 14, iters: 8, published: "4.850340602749970e+02"},
	} {
		original := lfkProblem(c.n, c.iters, kernel{"original", sweepOriginal})
		if got := lfkChecksum(c.n, reference(t, original)); got != c.published {
			t.Errorf("original order, n = %d, %d sweeps: checksum %s, published %s", c.n, c.iters, got, c.published)
		}
		want := c.listing
		if want == "" {
			want = c.published
		}
		if got := lfkChecksum(c.n, reference(t, lfkProblem(c.n, c.iters, listing()))); got != want {
			t.Errorf("listing's order, n = %d, %d sweeps: checksum %s, want %s", c.n, c.iters, got, want)
		}
	}
}

// TestLFKTellsJacobi checks that the checksums would notice a sweep that uses
// the last iteration's values for all four neighbours, which a fixed point
// would not.
func TestLFKTellsJacobi(t *testing.T) {
	jacobi := kernel{"jacobi", func(b *block, from, to int) {
		before := *b
		before.planes[planeData].cells = append([]float64(nil), b.planes[planeData].cells...)
		for i := from; i < to; i++ {
			for j := 1; j <= b.cols; j++ {
				z := func(p plane) float64 { return b.coefficients(p, i)[j-1] }
				q := before.row(i + 1)[j]*z(planeZr) + before.row(i - 1)[j]*z(planeZb) +
					before.row(i)[j+1]*z(planeZu) + before.row(i)[j-1]*z(planeZv) + z(planeZz)
				b.row(i)[j] += 0.175 * (q - before.row(i)[j])
			}
		}
	}}
	for _, iters := range []int{8, 100} {
		right := lfkChecksum(100, reference(t, lfkProblem(100, iters, kernel{"original", sweepOriginal})))
		wrong := lfkChecksum(100, reference(t, lfkProblem(100, iters, jacobi)))
		if wrong[:9] == right[:9] {
			t.Errorf("%d sweeps: Jacobi gives %s, Gauss-Seidel %s", iters, wrong, right)
		}
	}
}
