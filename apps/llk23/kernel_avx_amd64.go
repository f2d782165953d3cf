package main

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

//go:generate go -C bench/_avx run . -out ../../kernel_avx_amd64.s

// suitsAVX says whether b can be swept by togetherAVX here: the processor has AVX (nothing is
// fused, so AVX is enough), the rows of data lie at equal distances in memory, border included,
// and so do those of all coefficients.
func suitsAVX(b *block) bool {
	if !cpu.X86.HasAVX || b.rows < skew || b.cols == 0 {
		return false
	}
	if _, even := spacing(b.row, 0, b.rows+1); !even {
		return false
	}
	want := distance(&b.coefficients(planeZb, 1)[0], &b.coefficients(planeZb, 2)[0])
	for p := planeZb; p < planes; p++ {
		row := func(i int) []float64 { return b.coefficients(p, i) }
		if step, even := spacing(row, 1, b.rows); !even || step != want {
			return false
		}
	}
	return true
}

// spacing is how far rows first..last are from one to the next, and whether it
// is always the same. It looks at the ends only: a block may keep the rows of
// its border elsewhere, but not every other row.
func spacing(row func(i int) []float64, first, last int) (step uintptr, even bool) {
	begin := &row(first)[0]
	step = distance(begin, &row(first + 1)[0])
	return step, distance(begin, &row(last - 1)[0]) == uintptr(last-1-first)*step &&
		distance(begin, &row(last)[0]) == uintptr(last-first)*step
}

// togetherAVX lets all lanes of w advance by n elements, the fast kernel. The
// four rows are the four lanes of a vector. Everything but the west term is
// computed along the rows, four elements at a time, and transposed, so that the
// chain from west to east advances in all rows with the same instruction.
func togetherAVX(w *wave, n int) {
	a, i := &w.rows[0], w.done[0]
	at := places{
		north: &a.north[i+1], here: &a.here[i+1], south: &a.south[i+1],
		zb: &a.zb[i], zr: &a.zr[i], zu: &a.zu[i], zv: &a.zv[i], zz: &a.zz[i],
	}
	for r := range at.data {
		b, i := &w.rows[r+1], w.done[r+1]
		at.data[r] = distance(at.here, &b.here[i+1])
		at.coefficients[r] = distance(at.zz, &b.zz[i])
	}
	skewedAVX(&at, n/w.unit)
}

// places is where the next elements of the four rows are: the elements of the first lane, and
// how far from there the others' are, in bytes.
type places struct {
	north, here, south, zb, zr, zu, zv, zz *float64
	data, coefficients                     [skew - 1]uintptr
}

// distance is how far b is from a, in bytes.
func distance(a, b *float64) uintptr {
	return uintptr(unsafe.Pointer(b)) - uintptr(unsafe.Pointer(a))
}

// skewedAVX computes steps times four elements in each of four rows.
//
//go:noescape
func skewedAVX(at *places, steps int)
