// Package rows computes weighted sums of a stencil's cells. It uses the processor's vector
// instructions, which the Go compiler does not.
//
//	var mean = rows.Weights{0.25, 0.25, 0.25, 0.25}
//
//	err := g.Sweep(100, func(b *stencil.Block) {
//		mean.SumBox(u.NewBox(b), u.Box(b, -1, 0), u.Box(b, 1, 0), u.Box(b, 0, -1), u.Box(b, 0, 1))
//	})
//
// [Weights.SumBox] is for all cells of a block, and [Weights.Sum] for one row. A kernel that is no such sum is a loop
// in Go, as on the pages about stencils.
//
// The bits are those of a loop in Go: nothing is fused, and terms are added from left to right.
// amd64 has vectors of eight cells with AVX-512, and of four with AVX. Other processors, and
// programs with the race detector, have the loop in Go.
package rows
