//go:build !race

package rows

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// vectors computes lines by vector instructions, if the processor has them. The race detector
// does not see what they read and write, so they are not in a build with that.
func vectors[T Cell](next []T, w Weights[T], terms [][]T, l lines) bool {
	to, weights, from := unsafe.Pointer(&next[0]), unsafe.Pointer(&w[0]), unsafe.Pointer(&terms[0])
	switch single := unsafe.Sizeof(T(0)) == 4; {
	case cpu.X86.HasAVX512F && single:
		sum32AVX512(to, weights, from, len(terms), &l)
	case cpu.X86.HasAVX512F:
		sum64AVX512(to, weights, from, len(terms), &l)
	case cpu.X86.HasAVX && single:
		sum32AVX(to, weights, from, len(terms), &l)
	case cpu.X86.HasAVX:
		sum64AVX(to, weights, from, len(terms), &l)
	default:
		return false
	}
	return true
}

// Each function computes lines with so many terms, for cells of so many bits. There is at least one cell. The terms are
// slices.
//
//go:noescape
func sum64AVX(next, weights, terms unsafe.Pointer, count int, l *lines)

//go:noescape
func sum64AVX512(next, weights, terms unsafe.Pointer, count int, l *lines)

//go:noescape
func sum32AVX(next, weights, terms unsafe.Pointer, count int, l *lines)

//go:noescape
func sum32AVX512(next, weights, terms unsafe.Pointer, count int, l *lines)
