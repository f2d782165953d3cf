//go:build !race

package exact

import "golang.org/x/sys/cpu"

// vectors reports whether the processor has the instructions of blocks_amd64.s. GODEBUG=cpu.avx2=off takes them away.
// The race detector does not see what they read and write, so they are not in a build with that.
func vectors() bool { return cpu.X86.HasAVX2 && cpu.X86.HasFMA }

func maximum(x []float64) uint32 {
	if vectors() {
		return maximumAVX2(&x[0], len(x))
	}
	return maximumGo(x)
}

func extract(rest, x []float64, s1, s2 float64) (sum1, sum2 float64, left bool) {
	if vectors() {
		sum1, sum2, or := extractAVX2(&rest[0], &x[0], len(x), s1, s2)
		return sum1, sum2, or&^signBit != 0
	}
	return extractGo(rest, x, s1, s2)
}

func extractDot(x, y []float64, s1, s2 float64) (sum1, sum2 float64, most uint64, left bool) {
	var or uint64
	switch {
	case vectors() && cpu.X86.HasAVX512F:
		sum1, sum2, most, or = extractDotAVX512(&x[0], &y[0], len(x), s1, s2)
	case vectors():
		sum1, sum2, most, or = extractDotAVX2(&x[0], &y[0], len(x), s1, s2)
	default:
		return extractDotGo(x, y, s1, s2)
	}
	return sum1, sum2, most, or&^signBit != 0
}

func multiply(p, x, y []float64) (upper uint32) {
	if vectors() {
		return multiplyAVX2(&p[0], &x[0], &y[0], len(p))
	}
	return multiplyGo(p, x, y)
}

func multiplyExact(high, low, x, y []float64) (upper, lower, upperLow uint32) {
	if vectors() {
		return multiplyExactAVX2(&high[0], &low[0], &x[0], &y[0], len(high))
	}
	return multiplyExactGo(high, low, x, y)
}

// These do what the functions in Go do. n is a multiple of lanes, and not 0.
//
//go:noescape
func maximumAVX2(x *float64, n int) uint32

//go:noescape
func extractAVX2(rest, x *float64, n int, s1, s2 float64) (sum1, sum2 float64, or uint64)

//go:noescape
func extractDotAVX2(x, y *float64, n int, s1, s2 float64) (sum1, sum2 float64, most, or uint64)

//go:noescape
func extractDotAVX512(x, y *float64, n int, s1, s2 float64) (sum1, sum2 float64, most, or uint64)

//go:noescape
func multiplyAVX2(p, x, y *float64, n int) uint32

//go:noescape
func multiplyExactAVX2(high, low, x, y *float64, n int) (upper, lower, upperLow uint32)
