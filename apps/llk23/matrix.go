package main

import "unsafe"

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

// bytesOf is the memory of values: the machine's own byte order, as .npy files
// have it here.
func bytesOf(values []float64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), 8*len(values))
}
