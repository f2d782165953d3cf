package stencil

import (
	"fmt"
	"slices"

	"github.com/orwl/go-orwl/internal/rows"
)

// Weights are a stencil as data: the new value of a cell is a weighted sum of cells around it.
//
//	var flow = stencil.Weights{{At: stencil.At{-1}, Times: 0.25}, {Times: 0.5}, {At: stencil.At{1}, Times: 0.25}}
//
// The terms are added in this order. Each product and each sum is rounded, on all processors, so the bits are the same. amd64 has vector
// instructions for it. A field that has Weights in its options needs no Halo: its width, and Options.Corners, follow.
type Weights []Weight

// Weight is a factor of the cell that lies somewhere, as seen from the one that is computed.
type Weight struct {
	At    At // nil: the cell itself
	Times float64
}

// At is how far away a cell lies in each dimension.
type At []int

// Apply sets the cells of the block in one field to the weighted sum of those of a field around them.
func (w Weights) Apply(b *Block, to, from *Field[float64]) { w.apply(b, to, from, 0) }

// Add is Apply with another term, the first one: the new cell itself, times a factor. After Options.Previous it holds
// the generation before the old one.
func (w Weights) Add(b *Block, times float64, to, from *Field[float64]) { w.apply(b, to, from, times) }

func (w Weights) apply(b *Block, to, from *Field[float64], own float64) {
	var factorRoom [16]float64
	var termRoom [16]rows.Box
	factors, terms := rows.Weights(factorRoom[:0]), termRoom[:0]
	next := rows.Box(to.newBox(b))
	if own != 0 {
		factors, terms = append(factors, own), append(terms, next)
	}
	for i := range w {
		factors, terms = append(factors, w[i].Times), append(terms, rows.Box(from.Box(b, w[i].At...)))
	}
	factors.SumBox(next, terms...)
}

// reach is how far the weights read, and whether they read cells that differ in several dimensions.
func (w Weights) reach(ranks int) (halo widths, corners bool, err error) {
	for i, one := range w {
		if len(one.At) != 0 && len(one.At) != ranks {
			return halo, false, fmt.Errorf("weight %d is at %v, want %d distances", i, one.At, ranks)
		}
		if slices.ContainsFunc(w[:i], func(x Weight) bool { return same(x.At, one.At) }) {
			return halo, false, fmt.Errorf("weight %d is at %v, and so is one before it", i, one.At)
		}
		apart := 0
		for k, n := range one.At {
			dim := dims - ranks + k
			halo.low[dim], halo.high[dim] = max(halo.low[dim], -n), max(halo.high[dim], n)
			if n != 0 {
				apart++
			}
		}
		corners = corners || apart > 1
	}
	return halo, corners, nil
}

// same says that two places are one. The cell itself may have no distances.
func same(a, b At) bool {
	for i := range max(len(a), len(b)) {
		if i < len(a) && a[i] != 0 && (i >= len(b) || b[i] != a[i]) || i < len(b) && b[i] != 0 && (i >= len(a) || a[i] != b[i]) {
			return false
		}
	}
	return true
}

// byWeights is the kernel of a grid whose fields have Weights, and which has no other one.
func (g *Grid) byWeights() (kernel Kernel, err error) {
	var all []*Field[float64]
	for _, f := range g.fields {
		switch of, _ := f.(*Field[float64]); {
		case f.isConstant():
		case of == nil || len(of.options.Weights) == 0:
			return nil, fmt.Errorf("it has no kernel, and field %q no Weights: give Sweep a kernel, or declare stages", f.title())
		default:
			all = append(all, of)
		}
	}
	return func(b *Block) {
		for _, f := range all {
			f.options.Weights.Apply(b, f, f)
		}
	}, nil
}
