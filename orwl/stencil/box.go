package stencil

// dims is how many dimensions each grid has inside the package. A grid of fewer dimensions has length 1 in the first ones.
const dims = 3

// vec is a number for each dimension, the slowest first: planes, rows, columns.
type vec [dims]int

func (v vec) plus(w vec) vec {
	for i := range v {
		v[i] += w[i]
	}
	return v
}

func (v vec) minus(w vec) vec {
	for i := range v {
		v[i] -= w[i]
	}
	return v
}

// product counts the cells of a box with these lengths.
func (v vec) product() int { return v[0] * v[1] * v[2] }

// box is the cells from low to high, without high.
type box struct{ low, high vec }

func (b box) size() vec  { return b.high.minus(b.low) }
func (b box) cells() int { return b.size().product() }

func (b box) empty() bool {
	return b.low[0] >= b.high[0] || b.low[1] >= b.high[1] || b.low[2] >= b.high[2]
}

func (b box) contains(c vec) bool {
	for i := range c {
		if c[i] < b.low[i] || c[i] >= b.high[i] {
			return false
		}
	}
	return true
}

// grown adds so many cells on each side of the box.
func (b box) grown(h widths) box { return box{b.low.minus(h.low), b.high.plus(h.high)} }

// moved returns the box at another place.
func (b box) moved(by vec) box { return box{b.low.plus(by), b.high.plus(by)} }

// hull is the smallest box that contains both.
func (b box) hull(c box) box {
	for i := range dims {
		b.low[i] = min(b.low[i], c.low[i])
		b.high[i] = max(b.high[i], c.high[i])
	}
	return b
}

// common is the cells that both boxes have.
func (b box) common(c box) box {
	for i := range dims {
		b.low[i] = max(b.low[i], c.low[i])
		b.high[i] = min(b.high[i], c.high[i])
	}
	return b
}

// widths is how far something reaches on each side of a cell or a box.
type widths struct{ low, high vec }

// most takes the larger width of each side.
func (w widths) most(x widths) widths {
	for i := range dims {
		w.low[i] = max(w.low[i], x.low[i])
		w.high[i] = max(w.high[i], x.high[i])
	}
	return w
}

// only keeps the widths of one dimension, and sets all others to 0.
func (w widths) only(dim int) (x widths) {
	x.low[dim], x.high[dim] = w.low[dim], w.high[dim]
	return x
}

// direction says where a neighbour of a block is: a step of -1, 0 or 1 in each dimension, as one number. Directions have
// the order of the blocks to which they lead.
type direction int

const directions = 27

func directionOf(step vec) direction {
	return direction(9*(step[0]+1) + 3*(step[1]+1) + step[2] + 1)
}

// here is the direction of the block itself.
var here = directionOf(vec{})

func (d direction) step() vec { return vec{int(d)/9 - 1, int(d)/3%3 - 1, int(d)%3 - 1} }

// opposite leads back.
func (d direction) opposite() direction { return directions - 1 - d }
