package main

// kernel sweeps rows from..to-1 of a block, 1-based, once and in place.
//
// A kernel may have several forms, and picks one that suits the machine and the
// block. All are the same bits, also where the sweep of a block is cut in two.
type kernel struct {
	name  string
	sweep func(b *block, from, to int)
}

// line is one row of a block, or a part of one, with all that sweeping it
// reads. Data has its border, so that element j of the coefficients belongs to
// element j+1 of data.
type line struct {
	north, here, south []float64
	zb, zr, zu, zv, zz []float64
}

// lineOf is row i of b.
func lineOf(b *block, i int) line {
	return line{
		north: b.row(i - 1), here: b.row(i), south: b.row(i + 1),
		zb: b.coefficients(planeZb, i), zr: b.coefficients(planeZr, i), zu: b.coefficients(planeZu, i),
		zv: b.coefficients(planeZv, i), zz: b.coefficients(planeZz, i),
	}
}

// part is elements from..to-1 of l, 0-based.
func (l *line) part(from, to int) line {
	return line{
		north: l.north[from : to+2], here: l.here[from : to+2], south: l.south[from : to+2],
		zb: l.zb[from:to], zr: l.zr[from:to], zu: l.zu[from:to], zv: l.zv[from:to], zz: l.zz[from:to],
	}
}
