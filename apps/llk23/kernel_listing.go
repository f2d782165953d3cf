package main

// listing is Listing 8 of the paper, §4.1.1, in its order of additions.
func listing() kernel { return kernel{"listing", sweepListing} }

func sweepListing(b *block, from, to int) {
	// In shorter rows the ends, where rows do not advance together, cost more
	// than the rest gains.
	const shortest = 24
	if b.cols < shortest {
		sweepListingRows(b, from, to)
		return
	}
	sweepListingSkewed(b, from, to)
}

func sweepListingRows(b *block, from, to int) {
	var l line
	for i := from; i < to; i++ {
		l.set(b, i)
		rowListing(&l)
	}
}

// rowListing sweeps one row and is what the skewed form has to equal. Each
// product is converted to float64, which forbids the compiler to fuse it with
// the addition that follows: results are the same bits on every machine.
//
// The west neighbour is carried in a variable, since going through memory would
// lengthen the chain from one element to the next, which is what the time goes
// into.
func rowListing(l *line) {
	n := len(l.zz)
	zb, zr, zu, zv, zz := l.zb[:n], l.zr[:n], l.zu[:n], l.zv[:n], l.zz
	north, south := l.north[1:n+1], l.south[1:n+1]
	west, center, east := l.here[0], l.here[1:n+1], l.here[2:n+2]
	for j := range zz {
		west = updateListing(north[j], west, center[j], east[j], south[j], zb[j], zr[j], zu[j], zv[j], zz[j])
		center[j] = west
	}
}

// updateListing is the new value of an element. The compiler inlines it.
func updateListing(north, west, center, east, south, zb, zr, zu, zv, zz float64) float64 {
	q := float64(north*zb) + float64(west*zv) + float64(east*zu) + float64(south*zr) + zz - center
	return center + float64(0.175*q)
}

// togetherListing lets all lanes of w advance by n elements. Their rows are
// neighbours, a, b, c and d from north to south.
//
// A row loads only the east one of its five elements of data. The row above has just
// computed its north, its south is the east of the row below, and its center was its
// east.
func togetherListing(w *wave, n int) {
	a, b, c, d := w.piece(0, n), w.piece(1, n), w.piece(2, n), w.piece(3, n)
	north, south := a.north[1:n+1], d.south[1:n+1]
	a0, b0, c0, d0 := a.here[1:n+1], b.here[1:n+1], c.here[1:n+1], d.here[1:n+1]
	a1, b1, c1, d1 := a.here[2:n+2], b.here[2:n+2], c.here[2:n+2], d.here[2:n+2]
	aw, bw, cw, dw := a.here[0], b.here[0], c.here[0], d.here[0]
	ac, bc, cc, dc := a.here[1], b.here[1], c.here[1], d.here[1]
	for j := range n {
		ae, be, ce, de := a1[j], b1[j], c1[j], d1[j]
		dw = updateListing(cw, dw, dc, de, south[j], d.zb[j], d.zr[j], d.zu[j], d.zv[j], d.zz[j])
		cw = updateListing(bw, cw, cc, ce, de, c.zb[j], c.zr[j], c.zu[j], c.zv[j], c.zz[j])
		bw = updateListing(aw, bw, bc, be, ce, b.zb[j], b.zr[j], b.zu[j], b.zv[j], b.zz[j])
		aw = updateListing(north[j], aw, ac, ae, be, a.zb[j], a.zr[j], a.zu[j], a.zv[j], a.zz[j])
		a0[j], b0[j], c0[j], d0[j] = aw, bw, cw, dw
		ac, bc, cc, dc = ae, be, ce, de
	}
}
