package main

import "context"

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

// extent is where a block's interior lies: its first row and column in the
// whole matrix, whose ring has row 0 and column 0, and its size.
//
// Blocks that are swept several times in one pass share rows with those to their
// north and south: see [part.pass].
type extent struct {
	top, left  int
	rows, cols int
	above      int // rows of the northern neighbour that are kept here, too
	below      int // rows that the southern neighbour keeps, too
}

// block is a rectangle of the matrix with the coefficients of its elements.
//
//	          columns 0   1 ... cols   cols+1
//	row -above         ╎           ╎     border, and rows of the northern
//	...                ╎           ╎     neighbour, if there are any above
//	row 0              ┌ ─ ─ ─ ─ ─ ┐
//	row 1..rows          interior      border: ring or frontier
//	row rows+1         └ ─ ─ ─ ─ ─ ┘
//
// Data has a border of width 1: the ring where the block touches the edge of
// the matrix, and copies of the neighbours' elements everywhere else. The
// coefficients have none.
type block struct {
	extent
	planes [planes]matrix
}

// newBlock makes a block and fills it, data's border included. It fails only
// when ctx is done.
func newBlock(ctx context.Context, e extent, values initial) (*block, error) {
	b := &block{extent: e}
	for p := range planes {
		bordered := e
		if p == planeData {
			bordered = extent{top: e.top - 1, left: e.left - 1, rows: e.rows + 2, cols: e.cols + 2}
		}
		bordered.top, bordered.rows = bordered.top-e.above, bordered.rows+e.above
		b.planes[p] = newMatrix(bordered.rows, bordered.cols)
		for i := range bordered.rows {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			row := b.planes[p].row(i)
			for j := range row {
				row[j] = values(p, bordered.top+i, bordered.left+j)
			}
		}
	}
	return b, nil
}

// newBlock makes a block of the problem and fills it.
func (p problem) newBlock(ctx context.Context, e extent) (*block, error) {
	b, err := newBlock(ctx, e, p.values)
	if err != nil || p.data == nil {
		return b, err
	}
	return b, p.data.fill(ctx, b)
}

// row is row i of data, -above..rows+1, from column 0 to cols+1.
func (b *block) row(i int) []float64 { return b.planes[planeData].row(i + b.above) }

// coefficients is the row of a coefficient plane that belongs to row i of data,
// from column 1 to cols.
func (b *block) coefficients(p plane, i int) []float64 { return b.planes[p].row(i - 1 + b.above) }

// forget gives up the coefficients. The block cannot be swept any more.
func (b *block) forget() {
	for p := planeZb; p < planes; p++ {
		b.planes[p] = matrix{}
	}
}
