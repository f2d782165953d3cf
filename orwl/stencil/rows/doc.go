// Package rows computes with whole rows of a stencil's cells. It uses the processor's vector
// instructions, which the Go compiler does not.
//
//	var mean = rows.Weights{0.25, 0.25, 0.25, 0.25}
//
//	for r := range b.Rows() {
//		mean.Sum(u.New(r), u.Old(r, -1, 0), u.Old(r, 1, 0), u.Old(r, 0, -1), u.Old(r, 0, 1))
//	}
//
// A kernel that is no such sum is a loop in Go, as on the pages about stencils.
package rows
