package main

// skew is how many rows a skewed form sweeps together.
const skew = 4

// skewed sweeps several rows together, each lag elements behind the row to its
// north. With a lag of 1:
//
//	row i     o o o o o o x . . .    The four elements x of a step do not depend
//	row i+1   o o o o o x . . . .    on each other: the processor computes them
//	row i+2   o o o o x . . . . .    at once, where one row alone makes it wait
//	row i+3   o o o x . . . . . .    for the west neighbour each time.
//
// A lane that reaches the end of its row goes on with the row that is skew rows
// below while the others still finish theirs. At the very beginning and end
// there are lanes without a row; there, the others are swept one by one.
type skewed struct {
	// avx is the fast kernel with vectors; otherwise it is the listing, whose
	// lanes can advance together only if their rows are neighbours. Calls through
	// a pointer instead would put every wave on the heap.
	avx bool

	// lag is in elements, a multiple of unit. Together, lanes advance by units.
	lag, unit int
}

func (s *skewed) sweep(b *block, from, to int) {
	length := b.cols / s.unit * s.unit
	if to-from >= skew && length >= s.shortest() {
		w := wave{skewed: s, length: length}
		for ; from+skew <= to; from += skew {
			for lane := range skew {
				w.next(lane, b, from+lane)
			}
			w.full = true
		}
		for lane := range skew {
			w.finish(lane)
		}
	}
	var l line
	for ; from < to; from++ {
		l.set(b, from)
		s.row(&l)
	}
}

// shortest is how long rows have to be: when a lane begins the next row, the
// others are all in theirs, and the southernmost is ahead of it.
func (s *skewed) shortest() int { return (skew-1)*s.lag + s.unit }

// row sweeps one row, or a part of it.
func (s *skewed) row(l *line) {
	if s.avx {
		rowFast(l)
	} else {
		rowListing(l)
	}
}

// wave is four rows on their way from west to east.
type wave struct {
	*skewed
	length int  // what is swept together of each row; the rest is less than a unit
	full   bool // every lane has a row
	rows   [skew]line
	done   [skew]int // elements of each lane's row
}

// next finishes a lane's row if it has one, gives it row i of b and lets all lanes
// advance until it is the next lane's turn.
func (w *wave) next(lane int, b *block, i int) {
	w.finish(lane)
	w.rows[lane].set(b, i)
	w.done[lane] = 0
	switch {
	case lane == skew-1:
		w.together(w.length - (skew-1)*w.lag)
	case w.full && w.avx:
		w.together(w.lag)
	default: // the lanes' rows are not neighbours, or some lanes have none
		for r := range w.rows {
			if r <= lane || w.full {
				w.alone(r, w.lag)
			}
		}
	}
}

// together lets all lanes advance by n elements.
func (w *wave) together(n int) {
	if w.avx {
		togetherAVX(w, n)
	} else {
		togetherListing(w, n)
	}
	for lane := range w.done {
		w.done[lane] += n
	}
}

// alone lets one lane advance.
func (w *wave) alone(lane, n int) {
	l := w.piece(lane, n)
	w.row(&l)
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
