package stencil

import (
	"sync"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/internal/typed"
	"github.com/orwl/go-orwl/orwl"
)

// Frame is a field after so many sweeps.
type Frame[T any] struct {
	Sweeps int
	Last   bool // no other one follows
	// Cells are in the order of the grid. Those of other nodes are zero.
	Cells []T
	// Here says which cells are of this node. It is nil if all are.
	Here []bool
}

// Frames has body called with the field before the run and after each exchange of the blocks, for a film
// of the run. All cells of a frame are of the same sweep. No block waits for another one.
//
// body is called in the order of the sweeps, by a task that goes on when it returns. It must not
// keep the cells. If it returns true, half as many frames follow. Call Frames after [Grid.Sweep]
// and before the run.
func (f *Field[T]) Frames(body func(Frame[T]) (rarer bool)) {
	fr := &frames[T]{field: f, body: body, every: 1, begun: make(map[int]*begun[T])}
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

// here says of each cell if it is of this node.
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

// framer is the frames of a field of any type.
type framer interface {
	// come takes the cells of a tile after pass n, if there is a frame. Pass -1 is before the run.
	come(p *piece, n, swept int, last bool) error
}

// frames are those that not all tiles have come to. The first tile that comes to a pass decides
// if there is a frame: every only grows, so no later one would decide otherwise.
type frames[T any] struct {
	field *Field[T]
	body  func(Frame[T]) bool
	tiles int    // of this node
	here  []bool // which cells they have, if there are other nodes

	mu    sync.Mutex
	every int               // passes
	begun map[int]*begun[T] // by pass
	spare [][]T
}

type begun[T any] struct {
	cells []T
	left  int // tiles
}

func (f *frames[T]) come(p *piece, n, swept int, last bool) error {
	one := f.at(n, last)
	if one == nil {
		return nil
	}
	data := orwl.Write[byte](p.data)
	f.field.copyOut(one.cells, p.tile, handle.View[T](typed.ViewOf[T](data)), swept)
	f.mu.Lock()
	defer f.mu.Unlock()
	if one.left--; one.left > 0 {
		return nil
	}
	delete(f.begun, n)
	// This tile has not come to the next frame. So body is never called twice at a time.
	f.mu.Unlock()
	rarer := f.body(Frame[T]{swept, last, one.cells, f.here})
	f.mu.Lock()
	if rarer {
		f.every *= 2
	}
	f.spare = append(f.spare, one.cells)
	return nil
}

// at is the frame after pass n, or nil.
func (f *frames[T]) at(n int, last bool) *begun[T] {
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
	}
	f.begun[n] = one
	return one
}

// Progress is how many sweeps of blocks this node has done, and how many there are at most.
type Progress struct {
	Done, Total int64
	Blocks      int   // the blocks of this node
	Sweeps      int64 // the sweeps that all of them have done
}

// Progress is how far this node is, at any time.
func (g *Grid) Progress() (p Progress) {
	sweeps := int64(g.swept() - g.start)
	p.Sweeps = sweeps
	for _, t := range g.tiles {
		if t.node == g.rt.Node() {
			done := t.done.Load()
			p.Done += done
			p.Total += sweeps
			p.Sweeps = min(p.Sweeps, done)
			p.Blocks++
		}
	}
	return p
}

// told counts a pass over the tile, and films it.
func (p *piece) told(n, swept int, last bool) error {
	p.done.Store(int64(swept - p.grid.start))
	return p.film(n, swept, last)
}

// film takes frames of the tile.
func (p *piece) film(n, swept int, last bool) error {
	for _, f := range p.grid.framers {
		if err := f.come(p, n, swept, last); err != nil {
			return err
		}
	}
	return nil
}
