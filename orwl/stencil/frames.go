package stencil

import (
	"context"
	"reflect"
	"sync"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/internal/inner"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/internal/typed"
	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/stencil/internal/inside"
)

func init() {
	inside.Of = func(field any) any { return field.(interface{ inside() any }).inside() }
}

// insideGrid and insideField show a grid and a field to package show.
type (
	insideGrid         struct{ *Grid }
	insideField[T any] struct{ f *Field[T] }
)

func (g insideGrid) Name() string           { return g.o.Name }
func (g insideGrid) Size() []int            { return g.o.Size }
func (g insideGrid) Runtime() *orwl.Runtime { return g.rt }
func (g insideGrid) Last() int              { return g.swept() }
func (g insideGrid) AllowSnapshots()        { g.allowSnapshots() }
func (g insideGrid) Blocks() []int          { return g.blocks[dims-g.ranks:] }
func (g insideGrid) End(ctx context.Context) (int, error) {
	err := g.learnEnd(ctx)
	return g.swept(), err
}

func (g insideGrid) Result(block int) (low, high []int, node int) {
	t := g.tiles[block]
	b := g.result(t.at)
	return b.low[dims-g.ranks:], b.high[dims-g.ranks:], t.node
}

func (f *Field[T]) inside() any { return insideField[T]{f} }

func (i insideField[T]) Grid() inside.Grid                                 { return insideGrid{i.f.grid} }
func (i insideField[T]) Name() string                                      { return i.f.name }
func (i insideField[T]) Type() reflect.Type                                { return reflect.TypeFor[T]() }
func (i insideField[T]) Values(ctx context.Context) (cells []T, err error) { return i.f.Values(ctx) }
func (i insideField[T]) Snapshot(ctx context.Context) (inside.Snapshot[T], error) {
	return i.f.snapshot(ctx)
}
func (i insideField[T]) Frames(every int, body func(inside.Frame[T]) (rarer bool)) {
	i.f.frames(every, body)
}

func (i insideField[T]) Box(ctx context.Context, low, high []int) ([]byte, error) {
	b := box{high: vec{1, 1, 1}}
	copy(b.low[dims-len(low):], low)
	copy(b.high[dims-len(high):], high)
	cells, err := i.f.values(ctx, b)
	return typed.Bytes(cells), err
}

func (i insideField[T]) BytesOfFrames(every int, body func(sweeps int, last bool, cells []byte)) {
	i.f.frames(every, func(f inside.Frame[T]) bool {
		body(f.Sweeps, f.Last, typed.Bytes(f.Cells))
		return false
	})
}

// frames has body called with the field before the run and after every so many exchanges of the blocks.
func (f *Field[T]) frames(every int, body func(inside.Frame[T]) (rarer bool)) {
	fr := &film[T]{field: f, body: body, every: every, begun: make(map[int]*begun[T])}
	for _, t := range f.grid.tiles {
		if t.node == f.grid.rt.Node() {
			fr.tiles++
		}
	}
	if fr.tiles < len(f.grid.tiles) {
		fr.here = f.grid.here()
	}
	f.grid.framers = append(f.grid.framers, fr)
}

// here says for each cell whether this node has it.
func (g *Grid) here() []bool {
	own := newMemory[bool](g.domain())
	cells := make([]bool, g.size.product())
	for _, t := range g.tiles {
		if t.node == g.rt.Node() {
			own.eachRow(g.result(t.at), func(at, n int) {
				for i := range n {
					cells[at+i] = true
				}
			})
		}
	}
	return cells
}

// framer is the film of a field of any type.
type framer interface {
	// come takes the cells of a tile after pass n, if there is a frame. Pass -1 is before the run.
	come(p *piece, n, swept int, last bool) error
}

// film has the frames to which tiles of this node have yet to add their cells. The first tile that ends a pass decides
// if there is a frame. every only grows, so a later tile would decide the same.
type film[T any] struct {
	field *Field[T]
	body  func(inside.Frame[T]) bool
	tiles int    // this node has so many
	here  []bool // which cells they have; nil if they have all

	mu    sync.Mutex
	every int               // a frame follows after so many passes
	begun map[int]*begun[T] // the frame of each pass
	spare [][]T
}

type begun[T any] struct {
	cells []T
	left  int // so many tiles have not added their cells
}

func (f *film[T]) come(p *piece, n, swept int, last bool) error {
	one := f.at(n, last)
	if one == nil {
		return nil
	}
	data, err := p.data.Writable()
	switch {
	case err != nil:
		return err
	case f.field.changes():
		f.field.copyOut(one.cells, f.field.grid.domain(), p.tile, handle.View[T](typed.ViewOf[T](data)), swept)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if one.left--; one.left > 0 {
		return nil
	}
	delete(f.begun, n)
	// This tile has added nothing to the next frame yet. So only one call of body runs at a time.
	f.mu.Unlock()
	rarer := f.body(inside.Frame[T]{Sweeps: swept, Last: last, Cells: one.cells, Here: f.here})
	f.mu.Lock()
	if rarer {
		f.every *= 2
	}
	f.spare = append(f.spare, one.cells)
	return nil
}

// at returns the frame after pass n. It is nil if the film has none.
func (f *film[T]) at(n int, last bool) *begun[T] {
	f.mu.Lock()
	defer f.mu.Unlock()
	one := f.begun[n]
	if one != nil || !last && (n+1)%f.every != 0 {
		return one
	}
	one = &begun[T]{left: f.tiles}
	if n := len(f.spare); n > 0 {
		one.cells, f.spare = f.spare[n-1], f.spare[:n-1]
	} else {
		one.cells = make([]T, f.field.grid.size.product())
		if !f.field.changes() {
			f.field.constants(one.cells)
		}
	}
	f.begun[n] = one
	return one
}

// Progress is how many sweeps of blocks this node has done, and how many there are at most. It may be called at any time.
func (g *Grid) Progress() (done, total int64) {
	for _, t := range g.tiles {
		if t.node == g.rt.Node() {
			done += int64(t.sweeps())
			total += int64(g.swept())
		}
	}
	return done, total
}

// Sweeps is how many sweeps all blocks of this node have done. It may be called at any time.
func (g *Grid) Sweeps() int {
	least := g.swept()
	for _, t := range g.tiles {
		if t.node == g.rt.Node() {
			least = min(least, t.sweeps())
		}
	}
	return least
}

// sweeps is how many sweeps the tile has done, also in former lives of the run. If a reduction may end the run, a pass counts when the next
// one has begun, as in [piece.begin].
func (t *tile) sweeps() int {
	g, passes := t.grid, 0
	for _, task := range t.lasts {
		passes += int(task.Round())
	}
	if g.ends() && passes > 0 && g.bound(passes) < g.swept() {
		passes--
	}
	return min(g.bound(passes), g.swept())
}

// film adds the cells of the tile to the films.
func (p *piece) film(n, swept int, last bool) error {
	for _, f := range p.grid.framers {
		if err := f.come(p, n, swept, last); err != nil {
			return err
		}
	}
	return nil
}

// allowSnapshots lets snapshot copy whole fields on each node while the run goes on.
func (g *Grid) allowSnapshots() {
	g.snapshots = true
	for _, t := range g.tiles {
		inner.OfRuntime(g.rt).Snapshots(t.data)
	}
}

// snapshot copies the field, block by block.
func (f *Field[T]) snapshot(ctx context.Context) (s inside.Snapshot[T], err error) {
	g := f.grid
	s = inside.Snapshot[T]{Cells: make([]T, g.size.product()), First: -1}
	if !f.changes() {
		f.constants(s.Cells)
	}
	var bytes []byte
	for _, t := range g.tiles {
		if t.node != g.rt.Node() && !g.snapshots {
			continue
		}
		var version uint64
		if g.snapshots {
			bytes, version, err = inner.OfRuntime(g.rt).Snapshot(ctx, t.data, bytes[:0])
		} else {
			bytes, version, err = (*queue.Resource)(t.data).Copy(ctx, bytes[:0])
		}
		if err != nil {
			return s, err
		}
		swept := g.sweptBy(t, version)
		if f.changes() {
			f.copyOut(s.Cells, g.domain(), t, handle.View[T](typed.ViewOf[T](bytes)), swept)
		}
		if s.Last = max(s.Last, swept); s.First < 0 || swept < s.First {
			s.First = swept
		}
	}
	s.First = max(s.First, 0)
	return s, nil
}

// sweptBy counts the sweeps of a tile by the version of its memory. Tasks write it once with the initial values, and then
// in each piece.
func (g *Grid) sweptBy(t *tile, version uint64) int {
	return min(g.bound(max(0, int(version)-1)/t.pieces), g.swept())
}

// Values returns the cells of the field as they are after the run, in the order of the grid.
// Any node may ask for them until the nodes leave.
func (f *Field[T]) Values(ctx context.Context) ([]T, error) { return f.values(ctx, f.grid.domain()) }

// values returns the cells of a box.
func (f *Field[T]) values(ctx context.Context, b box) ([]T, error) {
	cells := make([]T, b.cells())
	if !f.changes() {
		f.setInitial(newMemory[T](b), cells)
		return cells, nil
	}
	if err := f.grid.learnEnd(ctx); err != nil {
		return nil, err
	}
	for _, t := range f.grid.tiles {
		if f.grid.result(t.at).common(b).empty() {
			continue
		}
		err := queue.Look(ctx, (*queue.Resource)(t.data), func(p *queue.Place) error {
			bytes, err := p.Bytes()
			if err == nil {
				f.copyOut(cells, b, t, handle.View[T](typed.ViewOf[T](bytes)), f.grid.swept())
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return cells, nil
}

// constants computes the cells of a constant field once more.
func (f *Field[T]) constants(cells []T) { f.setInitial(newMemory[T](f.grid.domain()), cells) }

// copyOut copies the cells of a tile to their places in a box. v is the memory of the tile after so many sweeps.
func (f *Field[T]) copyOut(cells []T, b box, t *tile, v handle.View[T], swept int) {
	m := t.block.memory[f.number].(*memory[T])
	to := newMemory[T](b)
	begin := f.begin(t, swept)
	to.eachRow(t.grid.result(t.at).common(b), func(at, n int) {
		from := begin + m.index(to.place(at))
		v.Sub(from, from+n).Copy(cells[at : at+n])
	})
}

// begin is the index at which the field's newest generation begins in the memory of a tile.
func (f *Field[T]) begin(t *tile, swept int) int {
	at := t.layout.at[f.number] / f.elementBytes()
	if f.generations() > 1 && swept&1 > 0 {
		at += t.block.memory[f.number].(*memory[T]).box.cells()
	}
	return at
}
