package stencil

import (
	"errors"
	"fmt"
	"time"

	"github.com/orwl/go-orwl/orwl"
)

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
