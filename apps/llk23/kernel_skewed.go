package main

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
