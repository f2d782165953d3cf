// Package rows computes weighted sums of a stencil's cells. It uses the processor's vector
// instructions, which the Go compiler does not. Package stencil has the sums as stencil.Apply.
//
// [Weights.SumBox] is for all cells of a block, and [Weights.Sum] for one row.
//
// The bits are the same as in a loop in Go: nothing is fused, and terms are added from left to right.
// amd64 has vectors of 64 bytes with AVX-512, and of 32 with AVX. Other processors, and
// programs with the race detector, have the loop in Go.
package rows
