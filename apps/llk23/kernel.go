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

// set makes l row i of b.
func (l *line) set(b *block, i int) {
	l.north = b.row(i - 1)
	l.here = b.row(i)
	l.south = b.row(i + 1)
	l.zb = b.coefficients(planeZb, i)
	l.zr = b.coefficients(planeZr, i)
	l.zu = b.coefficients(planeZu, i)
	l.zv = b.coefficients(planeZv, i)
	l.zz = b.coefficients(planeZz, i)
}

// part is elements from..to-1 of l, 0-based.
func (l *line) part(from, to int) line {
	return line{
		north: l.north[from : to+2], here: l.here[from : to+2], south: l.south[from : to+2],
		zb: l.zb[from:to], zr: l.zr[from:to], zu: l.zu[from:to], zv: l.zv[from:to], zz: l.zz[from:to],
	}
}

// kernels are what -kernel names.
var kernels = map[string]kernel{"listing": listing(), "fast": fast()}
