//go:build !race

package rows

import "golang.org/x/sys/cpu"

// lanes is how many cells a vector has.
const lanes = 4

// vectors computes the first cells of a sum, as many as vectors hold, and returns how many. The
// race detector does not see what it reads and writes, so it is not in a build with that.
func vectors(next []float64, w Weights, terms [][]float64) int {
	n := len(next) / lanes * lanes
	if !cpu.X86.HasAVX || n == 0 {
		return 0
	}
	sumAVX(&next[0], n, &w[0], &terms[0], len(w))
	return n
}

// sumAVX computes n cells of a sum with so many terms. n is a multiple of 4, and not 0.
//
//go:noescape
func sumAVX(next *float64, n int, weights *float64, terms *[]float64, count int)
