package main

import "github.com/orwl/go-orwl/handle"

// rect is a part of a block's data, in the block's own rows and columns, border
// included.
type rect struct{ top, left, rows, cols int }

func (r rect) cells() int { return r.rows * r.cols }

// edge is the outermost interior elements in a direction, which the neighbour
// there needs: a row, a column or a corner; and rows that both keep.
func (e extent) edge(d direction) rect {
	rows, cols := d.step()
	r := rect{top: 1, left: 1, rows: 1, cols: 1}
	r.top, r.rows = span(rows, e.rows, 1)
	r.left, r.cols = span(cols, e.cols, 1)
	return e.deepen(r, rows)
}

// deepen adds to an edge or border to the north or south the rows that both keep.
func (e extent) deepen(r rect, step int) rect {
	switch {
	case step < 0:
		r.top, r.rows = r.top-e.above, r.rows+e.above
	case step > 0:
		r.top, r.rows = r.top-e.below, r.rows+e.below
	}
	return r
}

// border is where the block keeps its copy of the neighbour's edge.
func (e extent) border(d direction) rect {
	rows, cols := d.step()
	var r rect
	r.top, r.rows = span(rows, e.rows, 0)
	r.left, r.cols = span(cols, e.cols, 0)
	return e.deepen(r, rows)
}

// span is one axis of an edge of a block with n elements along it: where it
// begins, and how long it is. first is the edge's place on the near side.
func span(step, n, first int) (begin, length int) {
	switch {
	case step < 0:
		return first, 1
	case step > 0:
		return n + 1 - first, 1
	}
	return 1, n
}

// write copies a part of the block's data to a frontier.
func (b *block) write(to []float64, r rect) {
	m := b.planes[planeData]
	r.top += b.above
	if r.cols == 1 {
		at := r.top*m.cols + r.left
		for i := range to {
			to[i] = m.cells[at]
			at += m.cols
		}
		return
	}
	for i := range r.rows {
		copy(to[i*r.cols:(i+1)*r.cols], m.row(r.top + i)[r.left:])
	}
}

// read copies a frontier to a part of the block's data.
func (b *block) read(from handle.View[float64], r rect) {
	m := b.planes[planeData]
	r.top += b.above
	if r.cols == 1 {
		at := r.top*m.cols + r.left
		for i := range from.Len() {
			m.cells[at] = from.At(i)
			at += m.cols
		}
		return
	}
	for i := range r.rows {
		from.Sub(i*r.cols, (i+1)*r.cols).Copy(m.row(r.top + i)[r.left : r.left+r.cols])
	}
}
