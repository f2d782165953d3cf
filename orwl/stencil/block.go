package stencil

import (
	"fmt"
	"iter"
	"slices"

	"github.com/orwl/go-orwl/internal/rows"
)

// Block is a box of cells that one call of a kernel computes, in one sweep. Several goroutines call the kernel at the
// same time, with different blocks. With Jacobi a kernel may compute the cells in any order. In place it goes from low to
// high rows, and in a row from low to high cells.
type Block struct {
	tile   *tile
	number int
	memory []storage // the cells of each field
	cells  box
	stage  int
	sweep  int
}

// Sweep is the number of the sweep, from 0.
func (b *Block) Sweep() int { return b.sweep }

// Number is which block it is, in the order of all blocks of the grid, from 0.
func (b *Block) Number() int { return b.number }

// Len is the number of cells in a dimension of the grid.
func (b *Block) Len(dim int) int {
	dim += dims - b.tile.grid.ranks
	return b.cells.high[dim] - b.cells.low[dim]
}

// At is the place of the first cell in a dimension of the grid.
func (b *Block) At(dim int) int { return Row{b, b.cells.low[0], b.cells.low[1]}.At(dim) }

// Rows yields the rows of the block, from low to high.
func (b *Block) Rows() iter.Seq[Row] {
	return func(yield func(Row) bool) {
		for z := b.cells.low[0]; z < b.cells.high[0]; z++ {
			for y := b.cells.low[1]; y < b.cells.high[1]; y++ {
				if !yield(Row{b, z, y}) {
					return
				}
			}
		}
	}
}

// Row is neighbouring cells of a block in the last dimension. It has two integers and no vec, because the compiler keeps
// integers in registers.
type Row struct {
	block *Block
	z, y  int // the plane, and the row in the plane
}

// length is the number of cells.
func (r Row) length() int { return r.block.cells.high[2] - r.block.cells.low[2] }

// At is the place of the first cell in a dimension of the grid.
func (r Row) At(dim int) int {
	g := r.block.tile.grid
	return g.wrapped(vec{r.z, r.y, r.block.cells.low[2]})[dims-g.ranks+dim]
}

// Old is the row before the sweep, or another one that lies so many cells away in each
// dimension. It has as many cells as the row. In a grid with rows and columns,
//
//	u.Old(r)         is the row itself,
//	u.Old(r, -1, 0)  the row before it,
//	u.Old(r, 0, 1)   its cells' neighbours on the high side.
//
// In place, cells that this sweep has computed have their new value.
//
// In the first sweep, Old panics if away has another number of dimensions than the grid, or if the row lies farther away than the
// field's Halo says.
func (f *Field[T]) Old(r Row, away ...int) []T {
	if r.block.sweep == 0 {
		f.inHalo(away)
	}
	m := r.block.memory[f.number].(*memory[T])
	from := m.of(r)
	switch len(away) {
	case 3:
		from += away[0]*m.plane + away[1]*m.row + away[2]
	case 2:
		from += away[0]*m.row + away[1]
	case 1:
		from += away[0]
	}
	to := from + r.length()
	return m.cells[r.block.sweep&1][from:to:to]
}

// inHalo panics if a kernel reads beyond the halo.
func (f *Field[T]) inHalo(away []int) {
	first := dims - f.grid.ranks
	if n := len(away); n != 0 && n != f.grid.ranks {
		panic(fmt.Sprintf("stencil: a row or array of field %q is given %d distances in a grid of %d dimensions", f.name, n, f.grid.ranks))
	}
	for i, n := range away {
		if low, high := f.halo.low[first+i], f.halo.high[first+i]; n < -low || n > high {
			panic(fmt.Sprintf("stencil: the kernel reads field %q at %v cells away, and its Halo is %d low and %d high in dimension %d",
				f.name, slices.Clone(away), low, high, i))
		}
	}
}

// of is the index at which a row begins.
func (m *memory[T]) of(r Row) int { return m.origin + r.z*m.plane + r.y*m.row + r.block.cells.low[2] }

// Box returns the memory of a field around a block, for kernels that go over several rows at once. first is the index of
// the block's first cell. The next row begins row cells later, and the next plane plane cells later. The cells have the
// values that [Field.Old] returns, as far as the field's Halo reaches beyond the block. In place, a kernel writes there.
func (f *Field[T]) Box(b *Block) (cells []T, first, row, plane int) {
	a := f.oldArray(b)
	return a.Cells, a.First, a.Row, a.Plane
}

// array is the cells of a block in the memory of a field, as package rows takes them.
type array[T any] struct {
	Cells             []T
	First, Row, Plane int
	// Size counts the planes, the rows in a plane, and the cells in a row.
	Size [3]int
}

// oldArray does for the whole block what [Field.Old] does for a row.
func (f *Field[T]) oldArray(b *Block, away ...int) array[T] {
	if b.sweep == 0 {
		f.inHalo(away)
	}
	return f.array(b, b.sweep&1, away)
}

// newArray does for the whole block what [Field.New] does for a row.
func (f *Field[T]) newArray(b *Block) array[T] { return f.array(b, ^b.sweep&1, nil) }

func (f *Field[T]) array(b *Block, generation int, away []int) array[T] {
	m := b.memory[f.number].(*memory[T])
	first := m.index(b.cells.low)
	for i, n := range away {
		first += n * [dims]int{m.plane, m.row, 1}[dims-len(away)+i]
	}
	return array[T]{Cells: m.cells[generation], First: first, Row: m.row, Plane: m.plane, Size: b.cells.size()}
}

// New is the row after the sweep: what the kernel writes.
func (f *Field[T]) New(r Row) []T {
	m := r.block.memory[f.number].(*memory[T])
	from := m.of(r)
	to := from + r.length()
	return m.cells[^r.block.sweep&1][from:to:to]
}

// Weight is a term of a weighted sum of cells: the factor of one cell. See [Apply].
type Weight struct {
	At    []int // how far away the cell lies in each dimension; nil means the computed cell itself
	Times float64
}

// Apply sets the cells of a block in one field to the weighted sum of the cells around them in a field, which may be the
// same one.
//
//	var flow = []stencil.Weight{{At: []int{-1}, Times: 0.25}, {Times: 0.5}, {At: []int{1}, Times: 0.25}}
//	...
//	g.Sweep(100, func(b *stencil.Block) { stencil.Apply(b, u, u, 0, flow) })
//
// If own is not 0, the first term is own times the cell that Apply sets. A field with Previous has the generation before
// the old one there. Apply adds the terms in their order, and rounds each product and each sum to the type of a cell. So
// the bits are the same on all processors. On amd64 it uses vector instructions.
func Apply[T float32 | float64](b *Block, to, from *Field[T], own float64, weights []Weight) {
	var factorRoom [16]T
	var termRoom [16]rows.Box[T]
	factors, terms := rows.Weights[T](factorRoom[:0]), termRoom[:0]
	next := rows.Box[T](to.newArray(b))
	if own != 0 {
		factors, terms = append(factors, T(own)), append(terms, next)
	}
	for i := range weights {
		factors, terms = append(factors, T(weights[i].Times)), append(terms, rows.Box[T](from.oldArray(b, weights[i].At...)))
	}
	factors.SumBox(next, terms...)
}

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

// exchange lists the cells that go from a tile to a neighbour before each pass: boxes of each field that changes. All
// pairs of tiles that look alike share one exchange, so a processor finds it in its cache. Places are relative to the low
// corner of the tile's block.
type exchange struct {
	strips []strip
	layout layout
}

// border is what a tile imports from a neighbour, or what it exports to one.
type border struct {
	*exchange          // nil if there is nothing to import or export
	faces     *[2]face // see [Grid.declareFaces]
}

// likeness has all that an exchange depends on. The importer is the tile itself, or the neighbour.
type likeness struct {
	stage    int // the stage writes the cells
	tile     kind
	importer kind
	corner   vec // the importer's block begins there
	from     direction
}

// exchange returns the cells that the importer takes over from a direction when a stage has ended. The importer is the
// tile itself, or a neighbour. corner is the low corner of its block, which may lie beyond a periodic edge. exchange
// returns nil if there are no such cells.
func (t *tile) exchange(stage int, importer, corner vec, from direction) *exchange {
	g := t.grid
	l := likeness{stage, g.kindOf(t.at), g.kindOf(importer), corner.minus(t.low), from}
	x, known := g.exchanges[l]
	if !known {
		x = t.newExchange(importer, l)
		g.exchanges[l] = x
	}
	return x
}

func (t *tile) newExchange(importer vec, l likeness) *exchange {
	g, x := t.grid, new(exchange)
	imports := g.shapeOf(importer).imports[l.from]
	for i, f := range g.fields {
		var boxes []box
		cells := 0
		if f.writtenIn(l.stage) {
			room := g.stored(f, importer).moved(vec{}.minus(g.block(importer).low))
			for _, b := range imports {
				if b = b.common(room); !b.empty() {
					boxes = append(boxes, b.moved(l.corner))
					cells += b.cells()
				}
			}
		}
		x.layout.add(cells*f.exchanged(), f.elementBytes())
		begin := x.layout.at[i] / f.elementBytes()
		for back := range f.exchanged() {
			for _, b := range boxes {
				x.strips = append(x.strips, strip{
					box: b, field: i, back: back, at: begin,
					planes: b.size()[0], rows: b.size()[1], length: b.size()[2],
					first: t.block.memory[i].index(b.low.plus(t.low)),
				})
				begin += b.cells()
			}
		}
	}
	x.layout.end(g)
	if x.layout.bytes == 0 {
		return nil
	}
	return x
}

// imports lists the cells that a tile takes over from each neighbour before a pass, as boxes relative to the low corner
// of its block. The neighbour exports the same cells.
type imports [directions][]box

// compute cuts the cells around a block into boxes in which all cells are alike, and looks at one cell of each. Regions,
// and the cells that they read, begin and end only where two boxes meet.
func (t *tiling) compute(at vec) *imports {
	var cuts [dims][]int
	for s := range t.sweeps {
		r := t.region(at, s)
		g := r.grown(t.halo)
		for i := range dims {
			cuts[i] = append(cuts[i], r.low[i], r.high[i], g.low[i], g.high[i])
		}
	}
	for i := range dims {
		b := t.block(at)
		cuts[i] = append(cuts[i], b.low[i], b.high[i])
		slices.Sort(cuts[i])
		cuts[i] = slices.Compact(cuts[i])
	}
	all := new(imports)
	for z := range len(cuts[0]) - 1 {
		for y := range len(cuts[1]) - 1 {
			for x := range len(cuts[2]) - 1 {
				b := box{vec{cuts[0][z], cuts[1][y], cuts[2][x]}, vec{cuts[0][z+1], cuts[1][y+1], cuts[2][x+1]}}
				if d, ok := t.imported(at, b.low); ok {
					all[d] = append(all[d], b.moved(vec{}.minus(t.block(at).low)))
				}
			}
		}
	}
	for d := range all {
		for i := dims - 1; i >= 0; i-- {
			all[d] = merged(all[d], i)
		}
	}
	return all
}

// imported says from which neighbour a cell comes. ok is false if no neighbour sends it.
func (t *tiling) imported(at vec, c vec) (d direction, ok bool) {
	for i := range dims {
		if !t.around[i] && (c[i] < 0 || c[i] >= t.size[i]) {
			return 0, false
		}
	}
	d = t.source(at, c)
	if d == here {
		return 0, false
	}
	for s := range t.sweeps {
		if t.reads(at, s, c) {
			return d, true
		}
	}
	return 0, false
}

// merged joins boxes that continue each other in a dimension.
func merged(all []box, dim int) []box {
	ends := make(map[box]int, len(all)) // which box ends at a face
	var result []box
	for _, b := range all {
		begin, end := b, b
		begin.high[dim] = b.low[dim]
		end.low[dim] = b.high[dim]
		at, ok := ends[begin]
		if ok {
			delete(ends, begin)
			result[at].high[dim] = b.high[dim]
		} else {
			at = len(result)
			result = append(result, b)
		}
		ends[end] = at
	}
	return result
}

// cornerOf is the low corner of the neighbour in a direction. In a periodic dimension it is where the neighbour would be
// if the grid went on.
func (t *tiling) cornerOf(at vec, d direction) vec {
	low := t.block(at).low
	n, _ := t.neighbour(at, d)
	for i, step := range d.step() {
		switch step {
		case 1:
			low[i] = t.block(at).high[i]
		case -1:
			low[i] -= t.block(n).size()[i]
		}
	}
	return low
}
