package main

import (
	"context"
	"unsafe"
)

// plane is one of the six matrices.
type plane int

const (
	planeData plane = iota
	planeZb
	planeZr
	planeZu
	planeZv
	planeZz
	planes
)

// initial is the value of element (i,j) of a plane before the first iteration,
// 0-based over the whole matrix with its ring.
type initial func(p plane, i, j int) float64

// extent is where a rectangle lies in the whole matrix, whose ring has row 0 and column 0: its
// first row and column, and its size.
type extent struct {
	top, left  int
	rows, cols int
}

// block is a rectangle of the matrix with the coefficients of its elements, as a kernel sees it:
// the whole matrix, or what a task of a [stencil.Grid] is to sweep.
//
//	          columns 0   1 ... cols   cols+1
//	row 0              ┌ ─ ─ ─ ─ ─ ┐
//	row 1..rows          interior      border
//	row rows+1         └ ─ ─ ─ ─ ─ ┘
//
// Data has a border of width 1: the ring of the matrix, or elements of other blocks. The
// coefficients have none.
type block struct {
	extent
	planes [planes]matrix
}

// newBlock makes a block of the problem and fills it, data's border included. It fails if ctx is
// done, or if the file cannot be read that data comes from.
func (p problem) newBlock(ctx context.Context, e extent) (*block, error) {
	b := &block{extent: e}
	for plane := range planes {
		border := 0
		if plane == planeData {
			border = 1
		}
		m := newMatrix(e.rows+2*border, e.cols+2*border)
		for i := range e.rows + 2*border {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if err := p.fill(plane, e.top-border+i, e.left-border, m.row(i)); err != nil {
				return nil, err
			}
		}
		b.planes[plane] = m
	}
	return b, nil
}

// fill gives neighbours in a row their initial values. The first is element (i,j).
func (p problem) fill(plane plane, i, j int, row []float64) error {
	if plane == planeData && p.data != nil {
		return p.data.read(i, j, row)
	}
	for n := range row {
		row[n] = p.values(plane, i, j+n)
	}
	return nil
}

// row is row i of data, 0..rows+1, from column 0 to cols+1.
func (b *block) row(i int) []float64 { return b.planes[planeData].row(i) }

// coefficients is the row of a coefficient plane that belongs to row i of data,
// from column 1 to cols.
func (b *block) coefficients(p plane, i int) []float64 { return b.planes[p].row(i - 1) }

// matrix is rows of equal length, at equal distances in memory.
type matrix struct {
	cols  int
	step  int // from one row to the next
	cells []float64
}

func newMatrix(rows, cols int) matrix {
	return matrix{cols: cols, step: cols, cells: make([]float64, rows*cols)}
}

// row is row i, for reading and writing.
func (m *matrix) row(i int) []float64 {
	at := i * m.step
	return m.cells[at : at+m.cols]
}

// bytesOf is the memory of values: the machine's own byte order, as .npy files have it here.
func bytesOf(values []float64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), 8*len(values))
}
