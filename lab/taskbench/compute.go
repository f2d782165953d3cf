package taskbench

import "math"

// The compute-bound kernel has so many numbers at work, so that no processor waits for the
// last result.
const (
	lanes          = 64
	flopsIteration = 2 * lanes
)

// begin is what the lanes hold at first: 4, 3, 2, 1, and so on.
var begin = func() (x [lanes]float64) {
	for i := range x {
		x[i] = float64(4 - i%4)
	}
	return x
}()

// compute repeats x = x*x + x, rounded once, on all lanes and returns their product.
func compute(iterations int) float64 {
	var x [lanes]float64
	iterate(&x, &begin, iterations)
	product := 1.0
	for _, v := range x {
		product *= v
	}
	return product
}

// iterateHere is the kernel as a listing.
func iterateHere(x, begin *[lanes]float64, iterations int) {
	*x = *begin
	for range iterations {
		for i, v := range x {
			x[i] = math.FMA(v, v, v)
		}
	}
}
