package main

import "golang.org/x/sys/cpu"

//go:generate go -C bench/_avx run . -out ../../kernel_avx_amd64.s

const (
	unitAVX = 4 // elements of a row that are swept in a step
	skewAVX = 4 // rows that are swept together, in the lanes of a vector
)

// suitsAVX says whether rows of b can be swept by the AVX form here. The processor has AVX: nothing
// is fused, so that is enough. Rows are long enough: when a lane begins its next one, the others are all
// in theirs. And rows of all coefficients are at the same distance in memory.
func suitsAVX(b *block) bool {
	if !cpu.X86.HasAVX || b.cols < skewAVX*unitAVX {
		return false
	}
	for p := planeZr; p < planes; p++ {
		if b.planes[p].step != b.planes[planeZb].step {
			return false
		}
	}
	return true
}

// sweepUnitsAVX sweeps the whole units of rows from..to-1, as many rows as are whole groups. It
// returns the first row that it leaves, and the first element that it leaves of the other rows, 0-based.
func sweepUnitsAVX(b *block, from, to int) (row, element int) {
	groups, units := (to-from)/skewAVX, b.cols/unitAVX
	if groups == 0 {
		return from, 0
	}
	first := func(p plane) *float64 { return &b.coefficients(p, from)[0] }
	sweepAVX(&b.row(from - 1)[1], first(planeZb), first(planeZr), first(planeZu), first(planeZv), first(planeZz),
		8*b.planes[planeData].step, 8*b.planes[planeZb].step, units, groups)
	return from + groups*skewAVX, units * unitAVX
}

// sweepAVX sweeps so many units of so many groups of rows. Data and coefficients are how many bytes it
// is from one row to the next.
//
//go:noescape
func sweepAVX(north, zb, zr, zu, zv, zz *float64, data, coefficients, units, groups int)
