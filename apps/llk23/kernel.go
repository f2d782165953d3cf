package main

// kernel sweeps rows from..to-1 of a block, 1-based, once and in place.
type kernel struct {
	name  string
	sweep func(b *block, from, to int)
}

// listing is Listing 8 of the paper, §4.1.1, in its order of additions.
func listing() kernel { return kernel{"listing", sweepListing} }

func sweepListing(b *block, from, to int) {
	for i := from; i < to; i++ {
		rowListing(b.row(i-1), b.row(i), b.row(i+1),
			b.coefficients(planeZb, i), b.coefficients(planeZr, i),
			b.coefficients(planeZu, i), b.coefficients(planeZv, i),
			b.coefficients(planeZz, i))
	}
}

// rowListing sweeps one row. Each product is converted to float64, which
// forbids the compiler to fuse it with the addition that follows: results are
// the same bits on every machine.
//
// The west neighbour is carried in a variable, since going through memory would
// lengthen the chain from one element to the next, which is what the time goes
// into.
func rowListing(north, here, south, zb, zr, zu, zv, zz []float64) {
	n := len(zz)
	zb, zr, zu, zv = zb[:n], zr[:n], zu[:n], zv[:n]
	north, south = north[1:n+1], south[1:n+1]
	west, center, east := here[0], here[1:n+1], here[2:n+2]
	for j := range zz {
		q := float64(north[j]*zb[j]) + float64(west*zv[j]) +
			float64(east[j]*zu[j]) + float64(south[j]*zr[j]) +
			zz[j] - center[j]
		west = center[j] + float64(0.175*q)
		center[j] = west
	}
}
