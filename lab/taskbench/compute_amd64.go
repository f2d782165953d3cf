package taskbench

import "golang.org/x/sys/cpu"

// iterate is the kernel in vectors of four lanes, which Go's compiler does not make. The peers
// in C have the same instructions. The vectors come from begin, which was not written in smaller pieces just before: a
// processor waits for such pieces before it loads them as a vector.
func iterate(x, begin *[lanes]float64, iterations int) {
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		iterateAVX(x, begin, iterations)
		return
	}
	iterateHere(x, begin, iterations)
}

// iterateAVX is iterateHere with AVX2 and FMA.
//
//go:noescape
func iterateAVX(x, begin *[lanes]float64, iterations int)
