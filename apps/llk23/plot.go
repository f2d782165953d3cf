package main

import (
	"fmt"
	"io"
	"iter"

	"github.com/orwl/go-orwl/orwl/stencil/picture"
)

// plot draws the field, whose rows are given, and how much each block waited. The ring is left
// out, which would be most of the legend and little of the picture.
func (r *report) plot(to io.Writer, rows iter.Seq2[int, []float64]) error {
	whole := r.grid.times(r.each)
	field := picture.Panel{Title: "field", Rows: whole.rows, Cols: whole.cols, Values: interior(rows, whole)}
	waited := make([]float64, len(r.shares))
	for i, s := range r.shares {
		waited[i] = s.waiting()
	}
	waiting := picture.Panel{
		Title: "time waiting", Rows: whole.rows, Cols: whole.cols, Values: r.spread(waited, whole),
		Most: 1, Palette: picture.Magma(), Label: func(v float64) string { return fmt.Sprintf("%.0f%%", 100*v) },
	}
	waiting.Blocks.Rows, waiting.Blocks.Cols = r.grid.rows, r.grid.cols
	return picture.Picture{field, waiting}.PNG(to)
}

// interior is the rows of a matrix without its ring.
func interior(rows iter.Seq2[int, []float64], whole size) iter.Seq[[]float64] {
	return func(yield func([]float64) bool) {
		for i, row := range rows {
			if i > 0 && (i > whole.rows || !yield(row[1:1+whole.cols])) {
				return
			}
		}
	}
}

// spread gives each element the value of its block.
func (r *report) spread(values []float64, whole size) iter.Seq[[]float64] {
	return func(yield func([]float64) bool) {
		row := make([]float64, whole.cols)
		for i := range whole.rows {
			for j := range row {
				row[j] = values[i/r.each.rows*r.grid.cols+j/r.each.cols]
			}
			if !yield(row) {
				return
			}
		}
	}
}
