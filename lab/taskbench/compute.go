package taskbench

import "math"

// The compute-bound kernel has so many numbers at work, so that no processor waits for the
// last result.
const (
	lanes          = 64
	flopsIteration = 2 * lanes
)

// compute repeats x = x*x + x, rounded once, on all lanes and returns their product.
func compute(iterations int) float64 {
	var x [lanes]float64
	for i := range x {
		x[i] = float64(4 - i%4)
	}
	iterate(&x, iterations)
	product := 1.0
	for _, v := range x {
		product *= v
	}
	return product
}

// iterateHere is the kernel as a listing.
func iterateHere(x *[lanes]float64, iterations int) {
	for range iterations {
		for i, v := range x {
			x[i] = math.FMA(v, v, v)
		}
	}
}
