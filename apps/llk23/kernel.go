package main

// kernel sweeps rows from..to-1 of a block, 1-based, once and in place.
//
// A kernel may have several forms, and picks one that suits the machine and the
// block. All are the same bits, also where the sweep of a block is cut in two.
type kernel struct {
	name  string
	sweep func(b *block, from, to int)
}

// line is one row of a block, or a part of one, with all that sweeping it
// reads. Data has its border, so that element j of the coefficients belongs to
// element j+1 of data.
type line struct {
	north, here, south []float64
	zb, zr, zu, zv, zz []float64
}

// set makes l row i of b.
func (l *line) set(b *block, i int) {
	l.north = b.row(i - 1)
	l.here = b.row(i)
	l.south = b.row(i + 1)
	l.zb = b.coefficients(planeZb, i)
	l.zr = b.coefficients(planeZr, i)
	l.zu = b.coefficients(planeZu, i)
	l.zv = b.coefficients(planeZv, i)
	l.zz = b.coefficients(planeZz, i)
}

// part is elements from..to-1 of l, 0-based.
func (l *line) part(from, to int) line {
	return line{
		north: l.north[from : to+2], here: l.here[from : to+2], south: l.south[from : to+2],
		zb: l.zb[from:to], zr: l.zr[from:to], zu: l.zu[from:to], zv: l.zv[from:to], zz: l.zz[from:to],
	}
}

// kernels are what -kernel names.
var kernels = map[string]kernel{"listing": listing(), "fast": fast()}

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

// skew is how many rows the listing's skewed form sweeps together.
const skew = 4

// sweepListingSkewed sweeps several rows together, each one element behind the row
// to its north:
//
//	row i     o o o o o o x . . .    The four elements x of a step do not depend
//	row i+1   o o o o o x . . . .    on each other: the processor computes them
//	row i+2   o o o o x . . . . .    at once, where one row alone makes it wait
//	row i+3   o o o x . . . . . .    for the west neighbour each time.
//
// A lane that reaches the end of its row goes on with the row that is skew rows
// below while the others still finish theirs. Then the lanes' rows are not
// neighbours, and are swept one by one. So they are at the very beginning and end,
// where there are lanes without a row.
func sweepListingSkewed(b *block, from, to int) {
	if b.cols >= skew { // when a lane begins the next row, the others are all in theirs
		var w wave
		for ; from+skew <= to; from += skew {
			for lane := range skew {
				w.next(lane, b, from+lane)
			}
			w.together(b.cols - (skew - 1))
			w.full = true
		}
		for lane := range skew {
			w.finish(lane)
		}
	}
	sweepListingRows(b, from, to)
}

// wave is four rows on their way from west to east.
type wave struct {
	full bool // every lane has a row
	rows [skew]line
	done [skew]int // elements of each lane's row
}

// next finishes a lane's row if it has one, gives it row i of b, and lets all lanes
// advance by an element if there is a lane after it.
func (w *wave) next(lane int, b *block, i int) {
	w.finish(lane)
	w.rows[lane].set(b, i)
	w.done[lane] = 0
	if lane == skew-1 {
		return
	}
	for r := range w.rows {
		if r <= lane || w.full {
			w.alone(r, 1)
		}
	}
}

// together lets all lanes advance by n elements.
func (w *wave) together(n int) {
	togetherListing(w, n)
	for lane := range w.done {
		w.done[lane] += n
	}
}

// alone lets one lane advance.
func (w *wave) alone(lane, n int) {
	l := w.piece(lane, n)
	rowListing(&l)
	w.done[lane] += n
}

// finish sweeps what is left of a lane's row.
func (w *wave) finish(lane int) {
	if n := len(w.rows[lane].zz) - w.done[lane]; n > 0 {
		w.alone(lane, n)
	}
}

// piece is the next n elements of a lane's row.
func (w *wave) piece(lane, n int) line { return w.rows[lane].part(w.done[lane], w.done[lane]+n) }

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
