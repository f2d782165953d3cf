package main

import (
	"context"
	"io"
	"iter"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/orwl/go-orwl/orwl"
	"github.com/orwl/go-orwl/orwl/inspect"
	"github.com/orwl/go-orwl/orwl/stencil"
	"github.com/orwl/go-orwl/orwl/stencil/show"
)

// form is how many tasks a block has.
type form string

const (
	// fused is one task, or one for each piece of a large block. They export the block's
	// frontiers themselves.
	fused form = "fused"
	// nine is the paper's form: the same, and a task for each of the up to eight edges and corners
	// that a neighbour reads.
	nine form = "9"
)

// field is a problem cut into a grid of blocks, and the grid that solves it in a life of the run. All nodes have the same field, and
// each life has a new one.
type field struct {
	problem
	grid, each size // blocks, and elements in each
	form       form
	figures    *figures  // nil: the run has no port that shows them
	why        io.Writer // gets the placement of the run; nil: it is not asked for
	films      bool      // the run is filmed
	past       *past     // of this process
	tells      sync.Once // why

	rt     *orwl.Runtime
	cells  *stencil.Grid
	planes [planes]*stencil.Field[float64]
	views  []block // by block: the part that is swept; only one task works on a block at a time
	begin  time.Time
	setup  time.Duration
	trace  *tracing   // nil: there is no trace
	film   *show.Film // nil: there is none

	reading sync.Once
	unread  error // the first of a file that data comes from

	// The result and the cost of this life, on node 0.
	final    []float64         // the interior
	accounts []stencil.Account // of all blocks
	took     time.Duration     // from the start of the runtime to the end of the last task
	pace     *inspect.Pace     // nil on several nodes
	shipped  int64             // bytes of contents that went from node to node meanwhile
}

// newField cuts p.
func newField(p problem, grid size, f form) *field {
	return &field{problem: p, form: f, grid: grid, each: size{p.rows / grid.rows, p.cols / grid.cols}, views: make([]block, grid.cells()), past: new(past)}
}

// declare declares the grid, and sets this node's blocks to their initial values.
func (f *field) declare(ctx context.Context) error {
	inPass := f.problem.sweeps
	if f.films && inPass == 0 {
		inPass = 1 // a film shows passes
	}
	o := stencil.Options{
		Name: "block", Size: stencil.Size{f.rows, f.cols}, Update: stencil.InPlace,
		Blocks: stencil.Size{f.grid.rows, f.grid.cols}, Sweeps: inPass, Exporters: f.form == nine,
		Clock: f.clock, Live: f.figures != nil,
	}
	if f.trace != nil {
		o.Observe = f.trace.changed
	}
	f.cells = stencil.New(f.rt, o)
	names := [planes]string{"data", "zb", "zr", "zu", "zv", "zz"}
	for p := range planes {
		o := stencil.FieldOptions[float64]{InitialRow: f.initial(ctx, p)}
		if p == planeData {
			o.Halo = stencil.Around(1)
		}
		f.planes[p] = stencil.NewField(f.cells, names[p], o)
	}
	f.cells.Stage(func(b *stencil.Block) { f.sweep(ctx, b) }, f.planes[planeData])
	if err := f.cells.Sweep(f.iters); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if f.unread != nil {
		return f.unread
	}
	if f.films {
		f.film = show.NewFilm(show.Field(f.planes[planeData]))
	}
	return nil
}

// initial is the values of a plane, for the grid. It counts from the first element inside the ring.
func (f *field) initial(ctx context.Context, p plane) func(at []int, row []float64) {
	return func(at []int, row []float64) {
		if ctx.Err() == nil {
			f.read(p, at[0]+1, at[1]+1, row)
		}
	}
}

// read is fill, and keeps the first error.
func (f *field) read(p plane, i, j int, row []float64) {
	if err := f.fill(p, i, j, row); err != nil {
		f.reading.Do(func() { f.unread = err })
	}
}

// sweep is the kernel of the grid. It stops early if ctx is done: the run is over then.
func (f *field) sweep(ctx context.Context, b *stencil.Block) {
	v := &f.views[b.Number()]
	e := extent{top: 1 + b.At(0), left: 1 + b.At(1), rows: b.Len(0), cols: b.Len(1)}
	if v.extent != e {
		for plane := planeZb; plane < planes; plane++ { // they stay where they are
			cells, first, step, _ := f.planes[plane].Box(b)
			v.planes[plane] = matrix{step: step, cols: e.cols, cells: cells[first:]}
		}
		v.extent = e
	}
	cells, first, step, _ := f.planes[planeData].Box(b)
	v.planes[planeData] = matrix{step: step, cols: e.cols + 2, cells: cells[first-step-1:]}
	// Its only error is the end of ctx, which Run returns.
	_ = f.sweepOnce(ctx, v, nil)
}

// clock is the time since the run began.
func (f *field) clock() time.Duration { return time.Since(f.begin) }

// here says that a block is of this node.
func (f *field) here(n int) bool { return f.cells.Node(n) == f.rt.Node() }

// result is the rows of the whole matrix, its ring included; each is valid until the next. A ring that cannot be read
// is in unread.
func (f *field) result() iter.Seq2[int, []float64] {
	return func(yield func(int, []float64) bool) {
		row := make([]float64, f.cols+2)
		for i := range f.rows + 2 {
			if i == 0 || i == f.rows+1 {
				f.read(planeData, i, 0, row)
			} else {
				f.read(planeData, i, 0, row[:1])
				f.read(planeData, i, f.cols+1, row[f.cols+1:])
				copy(row[1:], f.final[(i-1)*f.cols:i*f.cols])
			}
			if !yield(i, row) {
				return
			}
		}
	}
}

// problem is what to compute, in blocks or sequentially.
type problem struct {
	rows, cols int // of the interior
	iters      int
	sweeps     int // iterations in one pass over a block; 0: the grid chooses
	kernel     kernel
	values     initial
	data       *dataFile // nil, or what data is instead
}

// whole is the extent of the matrix.
func (p problem) whole() extent { return extent{top: 1, left: 1, rows: p.rows, cols: p.cols} }

// elements is the number of elements in the interior.
func (p problem) elements() int64 { return int64(p.rows) * int64(p.cols) }

// updates is how often an element is computed, in all iterations together.
func (p problem) updates() int64 { return p.elements() * int64(p.iters) }

// sequential is the sweep that every other form has to equal: one block, one
// iteration after the other.
func (p problem) sequential(ctx context.Context, b *block, swept *atomic.Int64) error {
	for range p.iters {
		if err := p.sweepOnce(ctx, b, swept); err != nil {
			return err
		}
	}
	return nil
}

// band is how many elements are swept between two checks whether to go on: half a millisecond's
// worth.
const band = 1 << 16

// sweepOnce sweeps b once, and adds the elements to swept as it goes, unless that is nil. It stops early only
// when ctx is done.
func (p problem) sweepOnce(ctx context.Context, b *block, swept *atomic.Int64) error {
	step := max(1, band/b.cols)
	for from := 1; from <= b.rows; from += step {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		end := min(from+step, b.rows+1)
		p.kernel.sweep(b, from, end)
		if swept != nil {
			swept.Add(int64(end-from) * int64(b.cols))
		}
	}
	return nil
}

// plane is one of the six matrices.
type plane int

const (
	planeData plane = iota
	planeZb
	planeZr
	planeZu
	planeZv
	planeZz
	planes
)

// initial is the value of element (i,j) of a plane before the first iteration,
// 0-based over the whole matrix with its ring.
type initial func(p plane, i, j int) float64

// extent is where a rectangle lies in the whole matrix, whose ring has row 0 and column 0: its
// first row and column, and its size.
type extent struct {
	top, left  int
	rows, cols int
}

// block is a rectangle of the matrix with the coefficients of its elements, as a kernel sees it:
// the whole matrix, or what a task of a [stencil.Grid] is to sweep.
//
//	          columns 0   1 ... cols   cols+1
//	row 0              ┌ ─ ─ ─ ─ ─ ┐
//	row 1..rows          interior      border
//	row rows+1         └ ─ ─ ─ ─ ─ ┘
//
// Data has a border of width 1: the ring of the matrix, or elements of other blocks. The
// coefficients have none.
type block struct {
	extent
	planes [planes]matrix
}

// newBlock makes a block of the problem and fills it, data's border included. It fails if ctx is
// done, or if the file cannot be read that data comes from.
func (p problem) newBlock(ctx context.Context, e extent) (*block, error) {
	b := &block{extent: e}
	for plane := range planes {
		border := 0
		if plane == planeData {
			border = 1
		}
		m := newMatrix(e.rows+2*border, e.cols+2*border)
		for i := range e.rows + 2*border {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if err := p.fill(plane, e.top-border+i, e.left-border, m.row(i)); err != nil {
				return nil, err
			}
		}
		b.planes[plane] = m
	}
	return b, nil
}

// fill gives neighbours in a row their initial values. The first is element (i,j).
func (p problem) fill(plane plane, i, j int, row []float64) error {
	if plane == planeData && p.data != nil {
		return p.data.read(i, j, row)
	}
	for n := range row {
		row[n] = p.values(plane, i, j+n)
	}
	return nil
}

// row is row i of data, 0..rows+1, from column 0 to cols+1.
func (b *block) row(i int) []float64 { return b.planes[planeData].row(i) }

// coefficients is the row of a coefficient plane that belongs to row i of data,
// from column 1 to cols.
func (b *block) coefficients(p plane, i int) []float64 { return b.planes[p].row(i - 1) }

// matrix is rows of equal length, at equal distances in memory.
type matrix struct {
	cols  int
	step  int // from one row to the next
	cells []float64
}

func newMatrix(rows, cols int) matrix {
	return matrix{cols: cols, step: cols, cells: make([]float64, rows*cols)}
}

// row is row i, for reading and writing.
func (m *matrix) row(i int) []float64 {
	at := i * m.step
	return m.cells[at : at+m.cols]
}

// bytesOf is the memory of values: the machine's own byte order, as .npy files have it here.
func bytesOf(values []float64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), 8*len(values))
}
