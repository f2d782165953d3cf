package main

import "golang.org/x/sys/cpu"

// _avx is a module of its own, so that avo is no dependency of go-orwl.
//
//go:generate go -C _avx run . -out ../kernel_avx_amd64.s

const (
	unitAVX = 4 // elements of a row that are swept in a step
	skewAVX = 4 // rows that are swept together, in the lanes of a vector
	lagAVX  = 2 // units that a lane is behind the one to its north, where rows are long enough
)

// suitsAVX says whether rows of b can be swept by the AVX form here. The processor has AVX: nothing
// is fused, so that is enough. Rows are long enough. And rows of all coefficients are at the same distance
// in memory.
func suitsAVX(b *block) bool {
	if !cpu.X86.HasAVX || b.cols < shortestAVX(1)*unitAVX {
		return false
	}
	for p := planeZr; p < planes; p++ {
		if b.planes[p].step != b.planes[planeZb].step {
			return false
		}
	}
	return true
}

// shortestAVX is how many units rows need for a lag: when a lane begins its next row, the others are
// all in theirs, and the southernmost is ahead of it.
func shortestAVX(lag int) int { return (skewAVX-1)*lag + 1 }

// sweepUnitsAVX sweeps the whole units of rows from..to-1, as many rows as are whole groups. It
// returns the first row that it leaves, and the first element that it leaves of the other rows, 0-based.
func sweepUnitsAVX(b *block, from, to int) (row, element int) {
	groups, units, lag := (to-from)/skewAVX, b.cols/unitAVX, lagAVX
	if groups == 0 {
		return from, 0
	}
	if units < shortestAVX(lag) {
		lag = 1
	}
	first := func(p plane) *float64 { return &b.coefficients(p, from)[0] }
	sweepAVX(&b.row(from - 1)[1], first(planeZb), first(planeZr), first(planeZu), first(planeZv), first(planeZz),
		8*b.planes[planeData].step, 8*b.planes[planeZb].step, units, lag, groups)
	return from + groups*skewAVX, units * unitAVX
}

// sweepAVX sweeps so many units of so many groups of rows. Data and coefficients are how many bytes it
// is from one row to the next.
//
//go:noescape
func sweepAVX(north, zb, zr, zu, zv, zz *float64, data, coefficients, units, lag, groups int)
