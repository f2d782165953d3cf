package main

// matrix is rows of equal length, one after the other.
type matrix struct {
	cols  int
	cells []float64
}

func newMatrix(rows, cols int) matrix {
	return matrix{cols: cols, cells: make([]float64, rows*cols)}
}

// row is row i, for reading and writing.
func (m matrix) row(i int) []float64 {
	return m.cells[i*m.cols : (i+1)*m.cols : (i+1)*m.cols]
}
