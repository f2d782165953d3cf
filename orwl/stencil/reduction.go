package stencil

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/orwl/go-orwl/handle"
)

// Reduction combines values of all blocks into one, without a barrier: for example how much
// a sweep has changed at most. The kernel calls Put. The values ride on the edges that blocks
// exchange anyway. So the result of a sweep is known some sweeps later: see Delay.
type Reduction[T any] struct {
	grid    *Grid
	name    string
	number  int
	options ReductionOptions[T]

	pending []savedValue // results that an earlier run has left, see checkpoint_reduction.go
	ended   bool         // one of them ends this run
}

// ReductionOptions are the parameters of a reduction.
type ReductionOptions[T any] struct {
	// Combine is the combination of two values. The order of combination depends on how the
	// grid is cut. If it matters, as for a sum of floating-point numbers, so does the result.
	Combine func(a, b T) T
	// Result gets the result of each exchange's last sweep, in order: on one node, from a
	// task that goes on when it returns. May be nil.
	Result func(sweep int, value T)
	// Until ends the run if it returns true: all blocks end after the same sweep, which is
	// Delay sweeps after the one with this result. It is called on one node, and not again
	// after it has returned true. A run that continues from a checkpoint first calls it on every node, for
	// results that were on their way: all must get the same answer. Nil: the run ends after as many sweeps as Sweep says.
	Until func(sweep int, value T) bool
}

// NewReduction declares a reduction of a grid. [Grid.Sweep] reports what is wrong with it.
func NewReduction[T any](g *Grid, name string, o ReductionOptions[T]) *Reduction[T] {
	r := &Reduction[T]{grid: g, name: name, number: len(g.reductions), options: o}
	g.reductions = append(g.reductions, r)
	if err := r.validate(); err != nil {
		g.check(fmt.Errorf("reduction %q: %w", name, err))
	}
	return r
}

func (r *Reduction[T]) validate() error {
	switch {
	case r.grid.declared:
		return ErrSwept
	case r.options.Combine == nil:
		return errors.New("it has no Combine")
	}
	return handle.Check[message[T]]()
}

// Put adds a value of the block. Values of the last sweep before an exchange count. All
// others are dropped.
func (r *Reduction[T]) Put(b *Block, value T) {
	if b.tile.flows == nil || !b.last {
		return
	}
	f := b.tile.flows[r.number].(*flow[T])
	f.own.add(value, r.options.Combine)
}

// Delay is after how many sweeps more all blocks know a result, at most. It is known after
// Grid.Sweep.
func (r *Reduction[T]) Delay() int { return r.grid.delay() * r.grid.tiling.sweeps }

// A result goes this way. In each dimension, from the fastest to the slowest, values go from the
// low to the high end of a line of blocks and are combined on the way. The block at the high
// end then goes on in the next dimension. The last block of the grid has the result. From there
// it goes back to the low end of each dimension, in the other order:
//
//	▶ ─ ▶ ─ ▶ ┐      ◀ ─ ◀ ─ ◀ ┐
//	          ▼                ▲
//	▶ ─ ▶ ─ ▶ ┐      ◀ ─ ◀ ─ ◀ ┐
//	          ▼                ▲
//	▶ ─ ▶ ─ ▶ R      ◀ ─ ◀ ─ ◀ R
//
// Jacobi brings it one block further in each pass. In place, a pass brings it to the high end at
// once.

// hops is how many blocks there are from the first to the last one.
func (g *Grid) hops() (n int) {
	for _, blocks := range g.blocks {
		n += blocks - 1
	}
	return n
}

// delay is in passes. A tile has one task for even and one for odd passes in Jacobi, and each
// must know before its last pass that it is the last.
func (g *Grid) delay() int {
	if g.update == Jacobi {
		return 2*g.hops() + 1
	}
	return g.hops()
}

// after is how many sweeps there were after a pass, from 1.
func (g *Grid) after(pass int64) int { return min(g.start+int(pass)*g.tiling.sweeps, g.total) }

// message is what goes from a block to the next one. Zeroed memory is no message.
type message[T any] struct {
	Pass  int64 // 1 for the first one
	Count int64 // values that are combined in Value
	Stop  int64 // how many passes there are, if that is known; on the way back
	Value T
}

func (m *message[T]) add(value T, combine func(a, b T) T) {
	if m.Count++; m.Count == 1 {
		m.Value = value
	} else {
		m.Value = combine(m.Value, value)
	}
}

// join combines the values of blocks before with m.
func (m *message[T]) join(before message[T], combine func(a, b T) T) {
	switch {
	case before.Count == 0:
	case m.Count == 0:
		m.Value = before.Value
	default:
		m.Value = combine(before.Value, m.Value)
	}
	m.Count += before.Count
}

// flow is a reduction in one tile.
type flow[T any] struct {
	reduction *Reduction[T]
	own       message[T]   // of this pass, while the kernel runs
	recent    []message[T] // of the last passes, for checkpoints
	// waiting are messages of earlier passes, in the order of the passes, for each dimension.
	// They wait for messages of the blocks before.
	waiting [dims][]message[T]
	stop    int64 // how many passes there are, once Until has said so; in the last block
}

// reducer is a reduction of any type, as the grid uses it.
type reducer interface {
	elementBytes() int
	newFlow() any
	// advance takes the messages that neighbours have sent, sends others, and returns how many
	// passes there are; 0 if that is not known.
	advance(flow any, p *stage, n int) (stop int, err error)

	// For checkpoints.
	saved() savedReduction
	recent(flow any) []savedValue
	resume(s savedReduction, number int, parts []*savedPart) (end int)
}

func (r *Reduction[T]) elementBytes() int { return int(reflect.TypeFor[message[T]]().Size()) }

func (r *Reduction[T]) newFlow() any { return &flow[T]{reduction: r} }

func (r *Reduction[T]) advance(in any, p *stage, n int) (stop int, err error) {
	f := in.(*flow[T])
	m := f.own
	m.Pass = int64(n + 1)
	f.own = message[T]{}
	f.keep(m)
	ended := true // the message has passed all dimensions
	for dim := dims - 1; dim >= 0 && ended; dim-- {
		if m, err = f.gather(p, dim, m); err != nil {
			return 0, err
		}
		if ended = p.at[dim] == r.grid.blocks[dim]-1; !ended {
			err = r.send(p.high[dim].out, m)
		}
	}
	switch {
	case err != nil:
		return 0, err
	case ended && m.Pass != 0:
		f.conclude(&m)
	case !ended:
		if m, err = r.hear(p); err != nil {
			return 0, err
		}
	}
	for dim := dims - 1; dim >= 0; dim-- {
		if p.at[dim] > 0 {
			if err := r.send(p.low[dim].out, m); err != nil {
				return 0, err
			}
		}
		if p.at[dim] < r.grid.blocks[dim]-1 {
			break
		}
	}
	return int(m.Stop), nil
}

// gather combines m, or an earlier message like it, with the message of the blocks before it
// in a dimension.
func (f *flow[T]) gather(p *stage, dim int, m message[T]) (message[T], error) {
	if p.at[dim] == 0 {
		return m, nil
	}
	waiting := &f.waiting[dim]
	if m.Pass != 0 {
		*waiting = append(*waiting, m)
	}
	before, err := f.reduction.receive(p.low[dim].in)
	if err != nil || before.Pass == 0 {
		return message[T]{}, err
	}
	m = (*waiting)[0]
	if m.Pass != before.Pass {
		panic(fmt.Sprintf("stencil: the values of pass %d meet those of pass %d", before.Pass, m.Pass))
	}
	*waiting = slices.Delete(*waiting, 0, 1)
	m.join(before, f.reduction.options.Combine)
	return m, nil
}

// conclude tells the result, and asks if it is the end.
func (f *flow[T]) conclude(m *message[T]) {
	g, o := f.reduction.grid, f.reduction.options
	sweep := g.after(m.Pass) - 1
	if o.Result != nil {
		o.Result(sweep, m.Value)
	}
	if o.Until != nil && f.stop == 0 && !f.reduction.ended && o.Until(sweep, m.Value) {
		f.stop = m.Pass + int64(g.delay())
	}
	m.Stop = f.stop
}

// hear is what comes back from the block in the fastest dimension that has one.
func (r *Reduction[T]) hear(p *stage) (message[T], error) {
	for dim := dims - 1; ; dim-- {
		if p.at[dim] < r.grid.blocks[dim]-1 {
			return r.receive(p.high[dim].in)
		}
	}
}

func (r *Reduction[T]) receive(from *port) (message[T], error) {
	v, err := handle.Read[message[T]](from.access)
	if err != nil {
		return message[T]{}, err
	}
	return v.At(r.slot(from.exchange)), nil
}

func (r *Reduction[T]) send(to *port, m message[T]) error {
	all, err := handle.Write[message[T]](to.access)
	if err == nil {
		all[r.slot(to.exchange)] = m
	}
	return err
}

// slot is where the message is in a face.
func (r *Reduction[T]) slot(x *exchange) int {
	return x.layout.at[len(r.grid.fields)+r.number] / r.elementBytes()
}
