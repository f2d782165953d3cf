package stencil

import "github.com/orwl/go-orwl/internal/rows"

// Weight is a term of a stencil that is a weighted sum: a factor of the cell that lies somewhere, as seen from the one that is
// computed. See [Apply].
type Weight struct {
	At    []int // the distance in each dimension; nil: the cell itself
	Times float64
}

// Apply sets the cells of a block in one field to the weighted sum of those of a field around them.
//
//	var flow = []stencil.Weight{{At: []int{-1}, Times: 0.25}, {Times: 0.5}, {At: []int{1}, Times: 0.25}}
//	...
//	g.Sweep(100, func(b *stencil.Block) { stencil.Apply(b, u, u, 0, flow) })
//
// own is a factor of the cell that is set, which is the first term if own is not 0. A field with Previous has the generation before the old
// one there. Apply adds the terms in their order, and rounds each product and each sum. So the bits are the same on all
// processors. amd64 has vector instructions for it.
func Apply(b *Block, to, from *Field[float64], own float64, weights []Weight) {
	var factorRoom [16]float64
	var termRoom [16]rows.Box
	factors, terms := rows.Weights(factorRoom[:0]), termRoom[:0]
	next := rows.Box(to.newArray(b))
	if own != 0 {
		factors, terms = append(factors, own), append(terms, next)
	}
	for i := range weights {
		factors, terms = append(factors, weights[i].Times), append(terms, rows.Box(from.oldArray(b, weights[i].At...)))
	}
	factors.SumBox(next, terms...)
}
