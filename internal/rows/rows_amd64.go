//go:build !race

package rows

import "golang.org/x/sys/cpu"

// vectors computes lines by vector instructions, if the processor has them. The race detector
// does not see what they read and write, so they are not in a build with that.
func vectors(next []float64, w Weights, terms [][]float64, l lines) bool {
	switch {
	case cpu.X86.HasAVX512F:
		sumAVX512(&next[0], &w[0], &terms[0], len(terms), &l)
	case cpu.X86.HasAVX:
		sumAVX(&next[0], &w[0], &terms[0], len(terms), &l)
	default:
		return false
	}
	return true
}

// sumAVX and sumAVX512 compute lines with so many terms. There is at least one cell.
//
//go:noescape
func sumAVX(next, weights *float64, terms *[]float64, count int, l *lines)

//go:noescape
func sumAVX512(next, weights *float64, terms *[]float64, count int, l *lines)
