//go:build !amd64 || race

package exact

func maximum(x []float64) uint32 { return maximumGo(x) }

func extract(rest, x []float64, s1, s2 float64) (sum1, sum2 float64, left bool) {
	return extractGo(rest, x, s1, s2)
}

func extractDot(x, y []float64, s1, s2 float64) (sum1, sum2 float64, most uint64, left bool) {
	return extractDotGo(x, y, s1, s2)
}

func multiply(p, x, y []float64) (upper uint32) { return multiplyGo(p, x, y) }

func multiplyExact(high, low, x, y []float64) (upper, lower, upperLow uint32) {
	return multiplyExactGo(high, low, x, y)
}
