package plain

// AVX2 is the sum of n values from x on, rounded at each addition. n is a multiple of 16. The processor has AVX2.
//
//go:noescape
func AVX2(x *float64, n int) float64
