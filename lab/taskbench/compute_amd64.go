package taskbench

import "golang.org/x/sys/cpu"

// iterate is the kernel in vectors of four lanes, which Go's compiler does not make. The peers
// in C have the same instructions.
func iterate(x *[lanes]float64, iterations int) {
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		iterateAVX(x, iterations)
		return
	}
	iterateHere(x, iterations)
}

// iterateAVX is iterateHere with AVX2 and FMA.
//
//go:noescape
func iterateAVX(x *[lanes]float64, iterations int)
