package main

// hills are initial values that a person can look at: three Gaussian hills on a slope. The
// coefficients let them spread, and a wind carry them round the middle of the matrix. Each
// element's coefficients add up to 1, so no element ever leaves the range of the initial values
// by more than zz adds.
//
// Every machine computes the same bits: nodes fill their own blocks. So the compiler must not
// fuse a product and a sum, which the conversions below prevent, and there is no math.Exp.
func hills(whole size) initial {
	return func(p plane, i, j int) float64 {
		y, x := float64(i)/float64(whole.rows+1), float64(j)/float64(whole.cols+1)
		switch p {
		case planeData:
			v := (x + y) / 4
			for _, h := range [...]hill{
				{y: 0.30, x: 0.35, wide: 0.10, high: 1},
				{y: 0.65, x: 0.70, wide: 0.07, high: 0.75},
				{y: 0.75, x: 0.25, wide: 0.14, high: 0.5},
			} {
				v += float64(h.high * h.at(y, x))
			}
			return v
		case planeZb: // of the northern element
			return (1.5 - x) / 4
		case planeZr:
			return (0.5 + x) / 4
		case planeZu: // of the eastern element
			return (1.5 - y) / 4
		case planeZv:
			return (0.5 + y) / 4
		}
		return (x - y) / 1024
	}
}

// hill is a Gaussian hill, in a matrix that is 1 high and 1 wide.
type hill struct{ y, x, wide, high float64 }

// at is exp(-q) by (1-q/256) to the power of 256, where q is half the square of the distance in
// widths. That takes eight multiplications, and is off by less than 0.002.
func (h hill) at(y, x float64) float64 {
	dy, dx := (y-h.y)/h.wide, (x-h.x)/h.wide
	e := max(0, 1-(float64(dy*dy)+float64(dx*dx))/512)
	for range 8 {
		e *= e
	}
	return e
}
