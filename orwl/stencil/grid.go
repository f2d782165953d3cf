package stencil

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/orwl"
)

// Grid is a box of cells, cut into blocks, with one or more fields. First declare its fields,
// then call Sweep, then [orwl.Runtime.Run].
type Grid struct {
	rt         *orwl.Runtime
	o          Options
	ranks      int // how many dimensions the user's grid has
	fields     []column
	reductions []*Reduction
	stages     []*Stage
	whole      bool // the only stage is a kernel that writes all fields
	framers    []framer
	errs       []error
	mirrored   [dims]bool

	// After Sweep.
	declared bool
	tiling
	shapes    map[kind]*shape
	exchanges map[likeness]*exchange
	changing  []int        // the fields that change
	total     int          // the run ends after so many sweeps, unless a reduction ends it
	stop      atomic.Int64 // a reduction has ended the run after so many sweeps; 0 if none has
	turns     int          // a round of the plan has so many passes, see tree.go
	trees     [][]*tree    // the trees by stage and turn; nil where no reduction has a value
	tiles     []*tile
	snapshots bool // snapshots are taken while the run goes on
}

// New declares a grid in a runtime. [Grid.Sweep] reports what is wrong with the options.
func New(rt *orwl.Runtime, o Options) *Grid {
	g := &Grid{rt: rt, o: o.withDefaults(), ranks: len(o.Size), shapes: make(map[kind]*shape), exchanges: make(map[likeness]*exchange)}
	if err := o.validate(); err != nil {
		g.check(err)
		g.ranks = 1
	}
	g.update, g.box = g.o.Update, g.o.Corners
	g.corner = g.o.Corners || g.o.Exporters
	g.tiling.sweeps = max(1, g.o.Sweeps)
	g.size, g.blocks = vec{1, 1, 1}, vec{1, 1, 1}
	if len(g.errs) == 0 {
		for i, n := range o.Size {
			g.size[dims-g.ranks+i] = n
		}
		for i, around := range o.Periodic {
			g.around[dims-g.ranks+i] = around
		}
		for i, mirrored := range o.Mirrored {
			g.mirrored[dims-g.ranks+i] = mirrored
		}
	}
	return g
}

// check keeps an error for Sweep.
func (g *Grid) check(err error) {
	if err != nil {
		g.errs = append(g.errs, fmt.Errorf("%w: grid %q: %w", ErrOptions, g.o.Name, err))
	}
}

// domain is the cells of the grid.
func (g *Grid) domain() box { return box{high: g.size} }

// inside is the domain, with all cells beyond its edges in periodic dimensions.
func (g *Grid) inside() box {
	b := g.domain()
	for i, around := range g.around {
		if around {
			b.low[i], b.high[i] = math.MinInt, math.MaxInt
		}
	}
	return b
}

// wrapped returns the cell of the grid that a cell beyond a periodic edge stands for.
func (g *Grid) wrapped(c vec) vec {
	for i, n := range g.size {
		if g.around[i] {
			c[i] = ((c[i] % n) + n) % n
		}
	}
	return c
}

// Sweep declares so many sweeps over the grid, as tasks of the runtime. Each runs the stages, or one kernel that writes
// all fields and adds to all reductions. Sweep reports what is wrong with the grid and its fields. All nodes of a run call it with the same arguments.
func (g *Grid) Sweep(sweeps int, kernel ...func(b *Block)) error {
	if g.declared {
		return fmt.Errorf("%w: grid %q: %w", ErrOptions, g.o.Name, errSwept)
	}
	g.declared = true
	if sweeps < 0 {
		g.check(wrong("sweeps", sweeps, "want 0 or more"))
	}
	if len(g.fields) == 0 {
		g.check(errors.New("it has no field"))
	}
	g.settleStages(kernel)
	if err := errors.Join(g.errs...); err != nil {
		return err
	}
	for i, f := range g.fields {
		if f.changes() {
			g.halo = g.halo.most(f.reach())
			g.changing = append(g.changing, i)
		}
	}
	g.total = sweeps
	if err := g.divide(); err != nil {
		g.check(err)
		return errors.Join(g.errs...)
	}
	return g.declare()
}

// cutBlocks cuts the grid as the options say, or chooses the blocks itself. It checks that each block is long enough.
func (g *Grid) cutBlocks() error {
	g.blocks = vec{1, 1, 1}
	if len(g.o.Blocks) > 0 {
		for i, n := range g.o.Blocks {
			g.blocks[dims-g.ranks+i] = n
		}
	} else {
		g.chooseBlocks()
	}
	first := dims - g.ranks
	if g.update == InPlace && g.box && g.mirrored != [dims]bool{} {
		return wrong("Mirrored", g.o.Mirrored, "want none with InPlace and Corners")
	}
	blocks := Size(g.blocks[first:])
	for i := first; i < dims; i++ {
		switch least, n := g.least(i), g.size[i]/g.blocks[i]; {
		case g.mirrored[i] && g.size[i] < g.shift(i):
			return wrong("Mirrored", g.o.Mirrored, "and the Halo in dimension %d is %d: want at least so many cells", i-first, g.shift(i))
		case g.update == InPlace && g.around[i] && g.blocks[i] < 2:
			return wrong("Blocks", blocks, "want 2 or more in dimension %d, which is periodic, with InPlace", i-first)
		case g.update == InPlace && g.box && i > first && g.blocks[i] > 1:
			return wrong("Blocks", blocks, "want 1 in dimension %d with InPlace and Corners: the block before would change cells that this one still reads", i-first)
		case (g.blocks[i] > 1 || g.around[i]) && n < least:
			return wrong("Blocks", blocks, "so one has %d cells in dimension %d: want at least %d for %d sweeps between exchanges", n, i-first, least, g.tiling.sweeps)
		}
	}
	return nil
}

// ends says that a reduction may end the run.
func (g *Grid) ends() bool {
	return slices.ContainsFunc(g.reductions, func(r *Reduction) bool { return r.o.Until != nil })
}

// InPass is how many sweeps a block makes between two exchanges with its neighbours. Call it after Sweep. See Options.Sweeps.
func (g *Grid) InPass() int { return g.tiling.sweeps }

// least is the least length of a block in a dimension.
func (g *Grid) least(dim int) int { return max(1, g.tiling.sweeps*g.shift(dim)) }

// String says the size of the grid and its blocks in words.
func (g *Grid) String() string {
	first := dims - g.ranks
	cells, blocks, each := "", "", ""
	for i := first; i < dims; i++ {
		times := ""
		if i > first {
			times = "×"
		}
		cells += fmt.Sprintf("%s%d", times, g.size[i])
		blocks += fmt.Sprintf("%s%d", times, g.blocks[i])
		each += fmt.Sprintf("%s%d", times, divideUp(g.size[i], g.blocks[i]))
	}
	text := fmt.Sprintf("%s cells in %s blocks of %s", cells, blocks, each)
	if n := g.tiling.sweeps; n > 1 {
		text += fmt.Sprintf(", %d sweeps between exchanges", n)
	}
	return text
}

// divideUp is n/by, rounded up.
func divideUp(n, by int) int { return (n + by - 1) / by }

// Size is a number for each dimension of a grid, the slowest first: Size{rows, columns}.
type Size []int

// Update says which values a kernel finds in the cells around the one that it computes.
type Update uint8

const (
	// With Jacobi all cells have the values of the sweep before. Each field has two generations.
	Jacobi Update = iota
	// With InPlace, cells before this one in the order of the grid have this sweep's values. Cells after it have the
	// values of the sweep before. Gauss-Seidel's method does so.
	InPlace
)

// Options are the parameters of a grid. Only Size is needed.
type Options struct {
	// Name begins the names of the grid's resources and tasks: "grid" by default. Grids of one
	// runtime have different names.
	Name string
	// Size is the number of cells in each of one to three dimensions.
	Size Size
	// Update is Jacobi by default.
	Update Update
	// Corners says that the kernel reads cells that lie away in several dimensions, such as the one to the north-west. In
	// place, the grid then cuts its first dimension only.
	Corners bool
	// Periodic says in which dimensions the first cell follows the last one. In place, such a dimension has at least two blocks.
	Periodic []bool
	// Mirrored says in which dimensions the cells beyond the edges of fields that change are mirror images, u[-1-i] = u[i],
	// of the values before the sweep. Initial then does not matter there.
	Mirrored []bool
	// Blocks is the number of blocks in each dimension. The grid chooses it by default.
	Blocks Size
	// Sweeps is how many sweeps a block makes between two exchanges with its neighbours. It stays in the cache for so
	// many sweeps. No block may be shorter than so many halos. By default the grid chooses up to [Deepest] if it does
	// not fit into the caches, and if that divides Every and Lag of the reductions. With Jacobi, several sweeps compute
	// the cells between blocks again, so small blocks get fewer. A grid with several stages has 1.
	Sweeps int
	// Exporters gives each face and corner of a block a task of its own, which copies it when the block is done. So a
	// block has nine tasks in two dimensions. By default the task of a block copies its faces itself, which costs less.
	Exporters bool
	// Clock is the time, for example since the run began. With a clock the grid measures what its blocks do: see
	// [Grid.Account]. A block reads it when it begins to do something else, which takes as long as to compute a dozen cells.
	Clock func() time.Duration
	// Observe gets each phase of a block after the first one but Queued, and when it began, from the task that does it. It needs Clock.
	Observe func(task *orwl.Task, phase Phase, at time.Duration)
	// Live lets [Grid.Spent] be called while the grid is swept. It takes some atomic stores in each phase. It needs Clock.
	Live bool

	// pieces is how many rows, or planes in three dimensions, are a task of their own at each end of a block. The block
	// then begins and ends there without one of its neighbours, and they without the whole block. 0: the grid chooses, or
	// lets a small block be one task. -1: each block is one task, as it is with several stages. Tests set it.
	pieces int
}

// The errors of a grid that is built or run in the wrong way.
var (
	// ErrOptions: a parameter of the grid, or of one of its fields, is out of range, or Sweep was called twice.
	ErrOptions = errors.New("stencil: wrong options")
)

// errSwept is the error of a field, a stage, a reduction, or another Sweep after Sweep.
var errSwept = errors.New("it comes after Sweep: declare all before, and call Sweep once")

// wrong names a field of some options, its value, and the values that it may have.
func wrong(field string, value any, want string, args ...any) error {
	return fmt.Errorf("%s is %v, %s", field, value, fmt.Sprintf(want, args...))
}

// validate names the first field that is out of range.
func (o Options) validate() error {
	ranks := len(o.Size)
	switch {
	case ranks < 1 || ranks > dims:
		return wrong("Size", o.Size, "want 1 to %d dimensions", dims)
	case o.Update > InPlace:
		return wrong("Update", o.Update, "want Jacobi or InPlace")
	case len(o.Periodic) > ranks:
		return wrong("Periodic", o.Periodic, "want at most the %d dimensions of Size", ranks)
	case len(o.Mirrored) > ranks:
		return wrong("Mirrored", o.Mirrored, "want at most the %d dimensions of Size", ranks)
	case len(o.Blocks) != 0 && len(o.Blocks) != ranks:
		return wrong("Blocks", o.Blocks, "want the %d dimensions of Size", ranks)
	case o.Sweeps < 0:
		return wrong("Sweeps", o.Sweeps, "want 1 or more, or 0")
	case (o.Observe != nil || o.Live) && o.Clock == nil:
		return wrong("Clock", "nil", "want a clock with Observe or Live")
	}
	for i, n := range o.Size {
		if n < 1 {
			return wrong("Size", o.Size, "want 1 or more cells in each dimension")
		}
		if len(o.Blocks) > 0 && (o.Blocks[i] < 1 || o.Blocks[i] > n) {
			return wrong("Blocks", o.Blocks, "want 1 to %d in dimension %d, which has so many cells", n, i)
		}
	}
	for i, mirrored := range o.Mirrored {
		if mirrored && i < len(o.Periodic) && o.Periodic[i] {
			return wrong("Mirrored", o.Mirrored, "and dimension %d is periodic: want one of both", i)
		}
	}
	if o.Update == InPlace && o.Sweeps > 1 {
		for i, around := range o.Periodic {
			if around {
				return wrong("Sweeps", o.Sweeps, "want 1 with InPlace and Periodic: dimension %d has no block to begin with", i)
			}
		}
	}
	return nil
}

func (o Options) withDefaults() Options {
	if o.Name == "" {
		o.Name = "grid"
	}
	return o
}
