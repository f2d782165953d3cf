package rows

import "fmt"

// Weights are the factors of a sum, one for each of its terms.
type Weights []float64

// Sum stores the weighted sum of the terms: for each i
//
//	next[i] = w[0]*terms[0][i] + w[1]*terms[1][i] + ...
//
// It adds from left to right, and each product and each sum is rounded. So the bits are the
// same on each machine. A term may be next itself. A term that overlaps next in another way
// must not be there. Sum panics if there is not one term for each weight, or if a term is
// shorter than next.
func (w Weights) Sum(next []float64, terms ...[]float64) {
	if len(terms) != len(w) || len(w) == 0 {
		panic(fmt.Sprintf("rows: %d terms for %d weights: want one for each, and at least one", len(terms), len(w)))
	}
	for i, t := range terms {
		if len(t) < len(next) {
			panic(fmt.Sprintf("rows: term %d has %d cells: want %d, as next has", i, len(t), len(next)))
		}
	}
	done := vectors(next, w, terms)
	w.sum(next, terms, done)
}

// sum is Sum from a cell on.
func (w Weights) sum(next []float64, terms [][]float64, from int) {
	for i := from; i < len(next); i++ {
		total := w[0] * terms[0][i]
		for k, t := range terms[1:] {
			total += float64(w[k+1] * t[i]) // the conversion rounds, where a processor could fuse
		}
		next[i] = total
	}
}
