package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"

	"github.com/orwl/go-orwl/internal/npy"
	"github.com/orwl/go-orwl/orwl/stencil/picture"
)

// errDiffers is matched by the error of a result that is not the sequential sweep's.
var errDiffers = errors.New("the result is not the sequential sweep's")

// compare looks for the first element of rows that is not b's, bit for bit, where b is the whole matrix.
func compare(ctx context.Context, rows iter.Seq2[int, []float64], b *block) error {
	for i, row := range rows {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for j, want := range b.row(i) {
			if math.Float64bits(row[j]) != math.Float64bits(want) {
				return fmt.Errorf("%w: row %d, column %d is %v and should be %v", errDiffers, i, j, row[j], want)
			}
		}
	}
	return nil
}

// digest is the SHA-256 of rows as little-endian float64, one after the other.
func digest(ctx context.Context, rows iter.Seq2[int, []float64]) (string, error) {
	hash := sha256.New()
	for _, row := range rows {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		_ = binary.Write(hash, binary.LittleEndian, row) // a hash takes all
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// export writes the final matrix as a .npy file, its ring included.
func (f *field) export(to io.Writer) error {
	whole := newMatrix(f.rows+2, f.cols+2)
	for i, row := range f.result() {
		copy(whole.row(i), row)
	}
	a := npy.Array{DType: "<f8", Shape: []int{f.rows + 2, f.cols + 2}}
	return cmp.Or(f.unread, npy.Write(to, a, bytesOf(whole.cells)))
}

// plot draws the field and how much each block waited. The ring is left out, which would be most of the legend and
// little of the picture.
func (r *report) plot(to io.Writer, cells []float64) error {
	whole := r.grid.times(r.each)
	field := picture.Panel{Title: "field", Rows: whole.rows, Cols: whole.cols, Values: picture.Cells(cells, whole.cols)}
	waited := make([]float64, len(r.shares))
	for i, s := range r.shares {
		waited[i] = s.waiting()
	}
	waiting := picture.Panel{
		Title: "time waiting for neighbours", Rows: whole.rows, Cols: whole.cols, Values: r.spread(waited, whole),
		Most: 1, Palette: picture.Magma(), Label: func(v float64) string { return fmt.Sprintf("%.0f%%", 100*v) },
	}
	waiting.Blocks.Rows, waiting.Blocks.Cols = r.grid.rows, r.grid.cols
	return picture.Picture{field, waiting}.PNG(to)
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
