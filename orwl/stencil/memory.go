package stencil

import (
	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/internal/typed"
)

// memory is the part of a field that a tile works on. It lies in the resource of the tile if the
// field changes. Nobody else needs the cells of a constant one: they have memory of their own.
type memory[T any] struct {
	// A field that changes by Jacobi has two generations, for even and for odd sweeps. Others
	// have the same one twice.
	cells  [2][]T
	plane  int // cells
	row    int // cells
	origin int // where cell 0,0,0 would be
	at     int // the first element in the tile's resource
	next   int // elements from one generation to the other; 0 if there is one
	box    box // its cells, in the coordinates of the grid
}

// storage is a memory of any type. All bytes are of a resource that the caller holds.
type storage interface {
	// bind finds the cells in the tile's bytes.
	bind(tile []byte)
	// load and store copy a strip from and to a neighbour's face, after so many sweeps. export is
	// store for a task that only reads the tile.
	load(s *strip, sweeps int, face []byte)
	store(s *strip, sweeps int, face []byte)
	export(s *strip, sweeps int, tile, face []byte)
	index(c vec) int
}

func newMemory[T any](b box) *memory[T] {
	size := b.size()
	m := &memory[T]{box: b, plane: size[1] * size[2], row: size[2]}
	m.origin = -m.index(b.low)
	return m
}

func (f *Field[T]) newMemory(cells box, at int) storage {
	m := newMemory[T](cells)
	m.at = at / f.elementBytes()
	if f.generations() > 1 {
		m.next = cells.cells()
	}
	return m
}

// index is where a cell is.
func (m *memory[T]) index(c vec) int { return m.origin + c[0]*m.plane + c[1]*m.row + c[2] }

// place is the cell at an index.
func (m *memory[T]) place(at int) vec {
	return m.box.low.plus(vec{at / m.plane, at / m.row % (m.plane / m.row), at % m.row})
}

// eachRow yields where the rows of a box begin, and how long they are.
func (m *memory[T]) eachRow(b box, yield func(at, length int)) {
	length := b.high[2] - b.low[2]
	for z := b.low[0]; z < b.high[0]; z++ {
		at := m.index(vec{z, b.low[1], b.low[2]})
		for range b.high[1] - b.low[1] {
			yield(at, length)
			at += m.row
		}
	}
}

func (m *memory[T]) bind(tile []byte) {
	all := typed.Slice[T](tile)[m.at:]
	n := m.box.cells()
	m.cells[0] = all[:n:n]
	m.cells[1] = all[m.next : m.next+n : m.next+n]
}

// generation is which of two one is: 0 back is the newest after so many sweeps.
func generation(sweeps, back int) int { return (sweeps + back) % 2 }

// strip is a box of a field that goes from a tile to a face, or back, and all that each pass needs for that.
type strip struct {
	box                  box
	field                int
	planes, rows, length int // length is the cells of a row
	first                int // cell of the memory
	at                   int // element of the face
	back                 int // 0: the newest generation; 1: the one before
}

func (m *memory[T]) load(s *strip, sweeps int, face []byte) {
	from, to := handle.View[T](typed.ViewOf[T](face)), m.cells[generation(sweeps, s.back)]
	at, n := s.at, s.length
	for z := range s.planes {
		cell := s.first + z*m.plane
		if n == 1 { // a column
			for _, x := range from.Sub(at, at+s.rows).All() {
				to[cell] = x
				cell += m.row
			}
			at += s.rows
			continue
		}
		for range s.rows {
			from.Sub(at, at+n).Copy(to[cell : cell+n])
			at, cell = at+n, cell+m.row
		}
	}
}

func (m *memory[T]) store(s *strip, sweeps int, face []byte) {
	from, to := m.cells[generation(sweeps, s.back)], typed.Slice[T](face)
	at, n := s.at, s.length
	for z := range s.planes {
		cell := s.first + z*m.plane
		if n == 1 {
			column := to[at : at+s.rows]
			for i := range column {
				column[i] = from[cell]
				cell += m.row
			}
			at += s.rows
			continue
		}
		for range s.rows {
			copy(to[at:at+n], from[cell:cell+n])
			at, cell = at+n, cell+m.row
		}
	}
}

func (m *memory[T]) export(s *strip, sweeps int, tile, face []byte) {
	from, to := handle.View[T](typed.ViewOf[T](tile)), typed.Slice[T](face)
	at, n := s.at, s.length
	for z := range s.planes {
		cell := m.at + generation(sweeps, s.back)*m.next + s.first + z*m.plane
		for range s.rows {
			from.Sub(cell, cell+n).Copy(to[at : at+n])
			at, cell = at+n, cell+m.row
		}
	}
}
