package main

// fast computes what the listing does in an order of operations that suits the
// machine: the west neighbour, on which everything waits, comes last.
//
//	p    = east·zu + south·zr + (zz - center) + north·zb
//	base = center + 0.175·p
//	data = base + (0.175·zv)·west
//
// From one element to the next the chain is one multiplication and one addition
// instead of the listing's eight operations. North comes last but one, since a
// skewed form has computed it only shortly before.
//
// No operation is fused. With math.FMA there would be seven instead of twelve,
// but unless GOAMD64 is v3 each of them asks whether the processor has it and
// spills registers for a call in case it has not; and where the matrix is in
// memory, bandwidth is the limit in either case.
func fast() kernel { return kernel{"fast", sweepFast} }

// A part of a block that is larger than the caches comes from memory, and its rows are swept one after another. The AVX form
// has four rows on their way, which are 26 streams of memory, in pieces of a page. On a Zen 3 it took 1.65 ns an element from
// memory, and the row form 1.13 to 1.46; on a Zen 5 both take as long. A pass of several sweeps gives the kernel bands of
// rows that stay in the cache.
const (
	cacheBytes   = 4 << 20
	elementBytes = 8 * int(planes)
)

func sweepFast(b *block, from, to int) {
	if inCache := (to-from)*b.cols*elementBytes <= cacheBytes; inCache && suitsAVX(b) {
		from = sweepFastAVX(b, from, to)
	}
	sweepFastRows(b, from, to)
}

// sweepFastAVX sweeps rows with vectors, four at a time, and returns the first one that is left.
//
// The ends of rows that fill no vector come last. This is the sweep's order, too: no element of a column
// needs the elements to its east in this sweep.
func sweepFastAVX(b *block, from, to int) int {
	end, left := sweepUnitsAVX(b, from, to)
	if left < b.cols {
		var l line
		for i := from; i < end; i++ {
			l.set(b, i)
			rest := l.part(left, b.cols)
			rowFast(&rest)
		}
	}
	return end
}

// sweepFastRows sweeps row by row. In Go that is the best form: four rows at a
// time need more registers than there are, and took half as long again.
func sweepFastRows(b *block, from, to int) {
	var l line
	for i := from; i < to; i++ {
		l.set(b, i)
		rowFast(&l)
	}
}

// rowFast sweeps one row and is what the other forms have to equal.
func rowFast(l *line) {
	n := len(l.zz)
	zb, zr, zu, zv, zz := l.zb[:n], l.zr[:n], l.zu[:n], l.zv[:n], l.zz
	north, south := l.north[1:n+1], l.south[1:n+1]
	west, center, east := l.here[0], l.here[1:n+1], l.here[2:n+2]
	for j := range zz {
		p := float64(east[j]*zu[j]) + float64(south[j]*zr[j]) +
			(zz[j] - center[j]) + float64(north[j]*zb[j])
		base := center[j] + float64(0.175*p)
		west = base + float64(float64(0.175*zv[j])*west)
		center[j] = west
	}
}
