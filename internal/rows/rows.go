package rows

import (
	"fmt"
	"unsafe"
)

// Cell is the type of a cell.
type Cell interface{ float32 | float64 }

// Box is the cells of a block in the memory of a field.
type Box[T Cell] struct {
	Cells             []T
	First, Row, Plane int
	Size              [3]int
}

// Weights are the factors of a sum, one for each of its terms.
type Weights[T Cell] []T

// Sum stores the weighted sum of the terms: for each i
//
//	next[i] = w[0]*terms[0][i] + w[1]*terms[1][i] + ...
//
// It adds from left to right, and each product and each sum is rounded. So the bits are the
// same on each machine. A term may be next itself. A term that overlaps next in another way
// must not be there. Sum panics if there is not one term for each weight, or if a term is
// shorter than next.
func (w Weights[T]) Sum(next []T, terms ...[]T) {
	w.check(len(terms))
	for i, t := range terms {
		if len(t) < len(next) {
			panic(fmt.Sprintf("rows: term %d has %d cells: want %d, as next has", i, len(t), len(next)))
		}
	}
	w.sum(next, terms, lines{count: 1, cells: len(next)})
}

// SumBox is [Weights.Sum] for each row of next. The terms have as many planes, rows and cells. It finds
// the memory of many rows at once, and goes through them in an order that suits the caches.
func (w Weights[T]) SumBox(next Box[T], terms ...Box[T]) {
	w.check(len(terms))
	rows := next.Size[1]
	if next.Row < next.Size[2] {
		panic(fmt.Sprintf("rows: a row has %d cells, and the next one begins after %d", next.Size[2], next.Row))
	}
	bands := min(rows, divideUp(rows*next.Row*int(unsafe.Sizeof(T(0))), bandBytes))
	for i, t := range terms {
		if t.Size != next.Size {
			panic(fmt.Sprintf("rows: term %d has %v planes, rows and cells: want %v, as next has", i, t.Size, next.Size))
		}
		if t.Row != next.Row { // lines have one distance
			bands = rows
		}
	}
	lead := leading(next, terms) * int(unsafe.Sizeof([]T{}))
	var room [16][]T
	parts := room[:]
	if len(terms) > len(room) {
		parts = make([][]T, len(terms))
	}
	parts = parts[:len(terms)]
	for band := range bands {
		low, high := band*rows/bands, (band+1)*rows/bands
		l := lines{count: high - low, cells: next.Size[2], apart: next.Row, lead: lead}
		for z := range next.Size[0] {
			for i, t := range terms {
				parts[i] = t.lines(l, z, low)
			}
			w.sum(next.lines(l, z, low), parts, l)
		}
	}
}

// A cell of a plane is a neighbour of cells in the planes before and after it. So a box is cut into bands of
// rows, and all planes of a band come one after another: three planes of a term, and one of next, fit
// into half of a cache of 1 MiB.
const bandBytes = 128 << 10 // of a plane

// leading is the term with the cells that a sum reads first. next itself is fetched anyway.
func leading[T Cell](next Box[T], terms []Box[T]) (lead int) {
	first := -1
	for i, t := range terms {
		if itself := t.First == next.First && unsafe.SliceData(t.Cells) == unsafe.SliceData(next.Cells); !itself && t.First > first {
			lead, first = i, t.First
		}
	}
	return lead
}

// divideUp is n/by, rounded up.
func divideUp(n, by int) int { return (n + by - 1) / by }

// lines are so many rows of cells that begin so many cells apart. The slice of the term that leads is so many bytes behind
// that of the first term.
type lines struct{ count, cells, apart, lead int }

func (l lines) empty() bool { return l.count <= 0 || l.cells <= 0 }

// lines is the memory from the beginning of a row to the end of the last line.
func (x Box[T]) lines(l lines, plane, row int) []T {
	if l.empty() {
		return nil
	}
	first := x.First + plane*x.Plane + row*x.Row
	return x.Cells[first : first+(l.count-1)*l.apart+l.cells]
}

func (w Weights[T]) check(terms int) {
	if terms != len(w) || terms == 0 {
		panic(fmt.Sprintf("rows: %d terms for %d weights: want one for each, and at least one", terms, len(w)))
	}
}

// sum computes lines, whose slices are long enough.
func (w Weights[T]) sum(next []T, terms [][]T, l lines) {
	if l.empty() || vectors(next, w, terms, l) {
		return
	}
	for first := 0; l.count > 0; l.count-- {
		for i := first; i < first+l.cells; i++ {
			total := T(w[0] * terms[0][i]) // the conversions round, where a processor could fuse
			for k, t := range terms[1:] {
				total += T(w[k+1] * t[i])
			}
			next[i] = total
		}
		first += l.apart
	}
}
