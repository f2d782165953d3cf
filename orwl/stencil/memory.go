package stencil

import (
	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/internal/typed"
)

// memory is the part of a field that a tile works on. It lies in the resource of the tile if the field changes. A
// constant field has memory outside of the resource, because no other node asks for its cells.
type memory[T any] struct {
	// cells has the generations for even and for odd sweeps. A field with one generation has the same cells twice.
	cells  [2][]T
	plane  int // a plane has so many cells
	row    int // a row has so many cells
	origin int // cell 0,0,0 would be at this index
	at     int // the first element in the tile's resource
	next   int // the second generation begins so many elements later; 0 if there is none
	box    box // its cells, in the coordinates of the grid
}

// storage is a memory of any type. The caller holds the resources that the bytes belong to.
type storage interface {
	// bind finds the cells in the tile's bytes.
	bind(tile []byte)
	// load copies a strip from a neighbour's face, after so many sweeps, and store copies one to a face. export stores
	// for a task that only reads the tile.
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

// generation is the index of a generation after so many sweeps: the newest one for back 0, and the one before for back 1.
func generation(sweeps, back int) int { return (sweeps + back) % 2 }

// strip is a box of a field that goes from a tile to a face, or back, with all numbers that a pass needs to copy it.
type strip struct {
	box                  box
	field                int
	planes, rows, length int // a row has length cells
	first                int // the first cell has this index in the memory
	at                   int // the first cell has this index in the face
	back                 int // the generation: 0 is the newest, and 1 the one before
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
