package stencil

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/internal/hugepage"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/internal/typed"
	"github.com/orwl/go-orwl/resource"
)

// Field is a value of type T for each cell of a grid. See [handle.Read] for what T may be.
type Field[T any] struct {
	grid    *Grid
	name    string
	number  int // the index of the field in the grid
	options FieldOptions[T]
	halo    widths
	writers []int // the stages that change it; without one it is constant
}

// FieldOptions are the parameters of a field. With the zero value a field is zero at first, and kernels read it only at
// the computed cell.
type FieldOptions[T any] struct {
	// Halo is how far the kernel reads: for each dimension the cells on the low and on the high side. One pair is for all
	// dimensions.
	Halo [][2]int
	// Initial returns the first value of a cell. The grid also calls it for the cells around the grid that Halo reaches:
	// these keep the value. Several goroutines call it. It must not keep at.
	Initial func(at []int) T
	// InitialRow is for values that come in rows, for example from a file. It sets neighbours in the last dimension, and
	// at is the place of the first one. A field has Initial or InitialRow.
	InitialRow func(at []int, row []T)
	// Previous is for kernels that read New before they write it: they find the generation before Old there. Previous
	// returns the value of a cell in that generation before the first sweep. It needs Jacobi.
	Previous func(at []int) T
}

// Around is a halo of so many cells on every side.
func Around(cells int) [][2]int { return [][2]int{{cells, cells}} }

// haloWidths checks a halo for a grid of so many dimensions.
func haloWidths(h [][2]int, ranks int) (w widths, err error) {
	if len(h) != 0 && len(h) != 1 && len(h) != ranks {
		return w, wrong("Halo", h, "want 1 pair or %d", ranks)
	}
	for i := range ranks {
		if len(h) == 0 {
			break
		}
		pair := h[min(i, len(h)-1)]
		if pair[0] < 0 || pair[1] < 0 {
			return w, wrong("Halo", h, "want no negative width")
		}
		w.low[dims-ranks+i], w.high[dims-ranks+i] = pair[0], pair[1]
	}
	return w, nil
}

// NewField declares a field of a grid. [Grid.Sweep] reports what is wrong with it.
func NewField[T any](g *Grid, name string, o FieldOptions[T]) *Field[T] {
	f := &Field[T]{grid: g, name: name, number: len(g.fields), options: o}
	g.fields = append(g.fields, f)
	g.check(f.validate())
	return f
}

func (f *Field[T]) validate() (err error) {
	g, o := f.grid, f.options
	if f.halo, err = haloWidths(o.Halo, g.ranks); err != nil {
		return f.wrong(err)
	}
	for _, other := range g.fields[:f.number] {
		if other.title() == f.name {
			return f.wrong(errors.New("the grid has another field of this name"))
		}
	}
	switch err = typed.Check[T](); {
	case err != nil:
		return f.wrong(err)
	case g.declared:
		return f.wrong(errSwept)
	case o.Initial != nil && o.InitialRow != nil:
		return f.wrong(errors.New("it has Initial and InitialRow: want one of them"))
	case g.o.Update == InPlace && o.Previous != nil:
		return f.wrong(errors.New("it has Previous in a grid with InPlace: a field that is changed in place has one generation"))
	}
	return nil
}

func (f *Field[T]) wrong(err error) error { return fmt.Errorf("field %q: %w", f.name, err) }

// column is a field of any type, as the grid uses it.
type column interface {
	title() string
	elementBytes() int
	generations() int // memory has so many
	changes() bool
	reach() widths
	writtenIn(stage int) bool
	wholly()
	mirror(m storage, generation int, cells box)
	settle() error
	exchanged() int // neighbours exchange so many generations

	// newMemory makes the memory of a tile for a box of cells, in the coordinates of the grid. at is its first byte in
	// the tile's resource.
	newMemory(cells box, at int) storage
	fill(m storage)
	forget(m storage)
	wrap(m storage, generation int, cells box)
	same(t *tile, got handle.View[byte], whole *tile, want handle.View[byte]) (at vec, same bool)
}

func (f *Field[T]) title() string     { return f.name }
func (f *Field[T]) elementBytes() int { return int(reflect.TypeFor[T]().Size()) }
func (f *Field[T]) changes() bool     { return len(f.writers) > 0 }
func (f *Field[T]) reach() widths     { return f.halo }

func (f *Field[T]) generations() int {
	switch g := f.grid; {
	case !f.changes() || g.o.Update == InPlace || len(g.stages) > 1:
		return 1
	case !g.whole && f.halo == widths{} && f.options.Previous == nil: // the stage reads it at the computed cell only
		return 1
	}
	return 2
}

func (f *Field[T]) exchanged() int {
	switch {
	case !f.changes():
		return 0
	case f.options.Previous != nil && f.grid.sweeps > 1:
		return 2
	}
	return 1
}

// fill sets the initial values.
func (f *Field[T]) fill(in storage) {
	m := in.(*memory[T])
	if !f.changes() {
		m.cells[0] = make([]T, m.box.cells())
		m.cells[1] = m.cells[0]
	}
	hugepage.Advise(m.cells[0])
	hugepage.Advise(m.cells[1])
	f.setInitial(m, m.cells[0])
	if f.generations() == 1 {
		return
	}
	copy(m.cells[1], m.cells[0])
	if previous := f.options.Previous; previous != nil {
		f.set(m, m.cells[1], m.box.common(f.grid.inside()), previous)
	}
}

// forget frees the cells of a constant field when no sweep follows.
func (f *Field[T]) forget(in storage) {
	if !f.changes() {
		in.(*memory[T]).cells = [2][]T{}
	}
}

func (f *Field[T]) setInitial(m *memory[T], cells []T) {
	switch o := f.options; {
	case o.Initial != nil:
		f.set(m, cells, m.box, o.Initial)
	case o.InitialRow != nil:
		f.setRows(m, cells, o.InitialRow)
	}
}

// setRows sets all cells by rows. In a periodic grid, a row that crosses the edge is set in several parts.
func (f *Field[T]) setRows(m *memory[T], cells []T, set func(at []int, row []T)) {
	g := f.grid
	user := make([]int, g.ranks)
	m.eachRow(m.box, func(at, n int) {
		for n > 0 {
			c := g.wrapped(m.place(at))
			length := n
			if g.around[dims-1] {
				length = min(n, g.size[dims-1]-c[dims-1])
			}
			copy(user, c[dims-g.ranks:])
			set(user, cells[at:at+length])
			at, n = at+length, n-length
		}
	})
}

// set sets each cell of a box to a function of its place in the grid.
func (f *Field[T]) set(m *memory[T], cells []T, b box, value func(at []int) T) {
	g := f.grid
	user := make([]int, g.ranks)
	for z := b.low[0]; z < b.high[0]; z++ {
		for y := b.low[1]; y < b.high[1]; y++ {
			at := m.index(vec{z, y, b.low[2]})
			for x := b.low[2]; x < b.high[2]; x++ {
				c := g.wrapped(vec{z, y, x})
				copy(user, c[dims-g.ranks:])
				cells[at+x-b.low[2]] = value(user)
			}
		}
	}
}

// mirror sets the cells beyond the mirrored edges, as far as a sweep over some cells reads them. In place, the sweep may
// have computed cells near an edge before: then an earlier call has set their images, with the values before the sweep.
//
//	u[-2] = u[1]   u[-1] = u[0] │ u[0]  u[1]  ...  u[n-1] │ u[n] = u[n-1]   u[n+1] = u[n-2]
func (f *Field[T]) mirror(in storage, generation int, b box) {
	g, m := f.grid, in.(*memory[T])
	around := b
	if g.update == Jacobi {
		around = b.grown(f.halo).common(m.box)
	}
	for dim := range dims {
		n := g.size[dim]
		reflect := func(to, from int) {
			if !g.mirrored[dim] || to < m.box.low[dim] || to >= m.box.high[dim] || from < b.low[dim] {
				return
			}
			if from >= b.high[dim] && (to < b.low[dim]-f.halo.low[dim] || to >= b.high[dim]+f.halo.high[dim]) {
				return
			}
			part, apart := around, vec{}
			part.low[dim], part.high[dim] = to, to+1
			apart[dim] = from - to
			by := m.index(m.box.low.plus(apart)) - m.index(m.box.low)
			m.eachRow(part, func(at, cells int) {
				copy(m.cells[generation][at:at+cells], m.cells[generation][at+by:at+by+cells])
			})
		}
		for i := range f.halo.low[dim] {
			reflect(-1-i, i)
		}
		for i := range f.halo.high[dim] {
			reflect(n+i, n-1-i)
		}
	}
}

// fill sets the initial values of this node's tiles, several at a time. It also sets the faces that a neighbour imports
// before a tile has computed them.
func (g *Grid) fill() error {
	var next atomic.Int64
	var all sync.WaitGroup
	var once sync.Once
	var failed error
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for {
				n := int(next.Add(1)) - 1
				if n >= len(g.tiles) {
					return
				}
				if t := g.tiles[n]; t.node == g.rt.Node() {
					if err := t.fill(); err != nil {
						once.Do(func() { failed = err })
						return
					}
				}
			}
		})
	}
	all.Wait()
	if failed != nil {
		return failed
	}
	for _, x := range slices.Concat(g.trees...) {
		if x != nil && x.root == g.rt.Node() {
			if err := x.fill(); err != nil {
				return err
			}
		}
	}
	return nil
}

// fill sets the initial values of a tile. The run has not begun, so nothing waits.
func (t *tile) fill() error {
	return section(t.data, func(data []byte) error {
		t.bind(data)
		for i, f := range t.grid.fields {
			f.fill(t.block.memory[i])
		}
		last := len(t.grid.stages) - 1 // the first pass imports what this stage would have written before
		for d := range t.out[last] {
			face := t.initialFace(t.out[last][d], direction(d))
			if face == nil {
				continue
			}
			err := section(face, func(to []byte) error {
				for _, s := range t.out[last][d].strips {
					t.block.memory[s.field].store(&s, 0, to)
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// fill writes the record before the first sweep.
func (x *tree) fill() error {
	return section(x.record, func(to []byte) error {
		for i, r := range x.reductions {
			typed.Slice[outcome](to)[i].now = r.o.Start
		}
		return nil
	})
}

// initialFace is the face that the neighbour in a direction imports before the tile has written it. It is nil if the tile
// writes the face first.
func (t *tile) initialFace(x border, d direction) *resource.Resource {
	if x.exchange == nil {
		return nil
	}
	if t.grid.update == Jacobi {
		return x.faces[t.grid.faceSets()-1].Resource // even passes come first
	}
	if n, _ := t.grid.neighbour(t.at, d); t.grid.number(n) < t.grid.number(t.at) {
		return x.faces[0].Resource
	}
	return nil
}

// section runs body, which may write the bytes of a resource.
func section(r *resource.Resource, body func([]byte) error) error {
	return queue.Section(context.Background(), (*queue.Resource)(r), queue.Write, func(p *queue.Place) error {
		data, err := p.Writable()
		if err != nil {
			return err
		}
		return body(data)
	})
}
