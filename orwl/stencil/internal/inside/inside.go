package inside

import (
	"context"
	"reflect"

	"github.com/orwl/go-orwl/orwl"
)

// Grid is a grid after Sweep.
type Grid interface {
	Name() string
	Size() []int
	Runtime() *orwl.Runtime
	// Progress is how many sweeps of blocks this node has done, and how many there are at most. It may be called at any time.
	Progress() (done, total int64)
	// Last is the number of the last sweep, unless a reduction ends the run.
	Last() int
	// End is how many sweeps the run has had. Call it after the run.
	End(ctx context.Context) (int, error)
	// InPass is how many sweeps a block makes between two exchanges with its neighbours.
	InPass() int
	// Blocks counts the blocks in each dimension.
	Blocks() []int
	// Result is the cells that a block has after the run, and its node. Each cell is of one block.
	Result(block int) (low, high []int, node int)
	// AllowSnapshots lets Snapshot copy whole fields on each node while the run goes on. All nodes call it before the run. See
	// inner.Runtime for what it costs.
	AllowSnapshots()
}

// Field is a field of a grid.
type Field[T any] interface {
	Grid() Grid
	Name() string
	// Frames has body called with the field before the run and after each exchange of the blocks, for a film of the run. All
	// cells of a frame are of the same sweep. No block waits for another one.
	//
	// body is called in the order of the sweeps, by a task that goes on when it returns. It must not keep the cells. A frame
	// follows after so many exchanges, and twice as many each time that it returns true. Call Frames before the run.
	Frames(every int, body func(Frame[T]) (rarer bool))
	// Snapshot copies the field, block by block. After AllowSnapshots it does so while the run goes on: a block waits for as
	// long as its copy takes, and the others go on. No kernel may call it. On several nodes it fails with [orwl.ErrEarly]
	// until the run has begun.
	Snapshot(ctx context.Context) (Snapshot[T], error)
	// Values are the cells of the field as they are after the run, in the order of the grid.
	Values(ctx context.Context) ([]T, error)
}

// Bytes is a [Field] of any type as memory.
type Bytes interface {
	Grid() Grid
	Name() string
	Type() reflect.Type
	// Box is the cells of a box after the run, from low to high, without high.
	Box(ctx context.Context, low, high []int) ([]byte, error)
	// BytesOfFrames is Frames of the field. It never asks for fewer.
	BytesOfFrames(every int, body func(sweeps int, last bool, cells []byte))
}

// Frame is a field after so many sweeps.
type Frame[T any] struct {
	Sweeps int
	Last   bool // no other frame follows
	// Cells are in the order of the grid. Those of other nodes are zero, unless no stage writes the field.
	Cells []T
	// Here says which cells are of this node. It is nil if all are.
	Here []bool
}

// Snapshot is a field at one time of a run. Blocks near each other are of nearly the same sweep. A block is as it was
// between two exchanges with its neighbours. A block with several pieces may have first rows that are ahead of its last ones, by
// as many sweeps as there are between exchanges.
type Snapshot[T any] struct {
	// Cells are in the order of the grid. Those of other nodes are zero without AllowSnapshots.
	Cells []T
	// First and Last are the sweeps that the blocks have been through: the least and the most.
	First, Last int
}

// Of returns the Field[T] of a *stencil.Field[T]. Package stencil sets it.
var Of func(field any) any
