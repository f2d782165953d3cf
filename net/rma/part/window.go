package part

import (
	"context"

	"github.com/orwl/go-orwl/net/rma"
)

// Window is a rank's view of a part: the window of the same rank of the whole, with the
// part's ranks as targets. Operations on the rank's own memory, and those that name no
// target, are the whole's.
type Window struct {
	rma.Shared // of the whole
	beside     rma.Considerate
	rank       rma.Rank
	ranks      []rma.Rank // of the whole
}

var (
	_ rma.Shared      = (*Window)(nil)
	_ rma.Considerate = (*Window)(nil)
)

// of is a target in the whole. A target that the part does not have panics.
func (w *Window) of(operation string, target rma.Rank, disp rma.Disp) rma.Rank {
	if uint(target) >= uint(len(w.ranks)) {
		panic(&rma.AddressError{Operation: operation, Target: target, Disp: disp, Why: "the part has no such rank"})
	}
	return w.ranks[target]
}

// named has the panic of an operation name its target as the part does.
func named(target rma.Rank) {
	switch value := recover().(type) {
	case nil:
	case *rma.AddressError:
		value.Target = target
		panic(value)
	default:
		panic(value)
	}
}

// Rank implements rma.Window.
func (w *Window) Rank() rma.Rank { return w.rank }

// Put implements rma.Window.
func (w *Window) Put(target rma.Rank, disp rma.Disp, value uint64) {
	defer named(target)
	w.Shared.Put(w.of("Put", target, disp), disp, value)
}

// Get implements rma.Window.
func (w *Window) Get(target rma.Rank, disp rma.Disp) uint64 {
	defer named(target)
	return w.Shared.Get(w.of("Get", target, disp), disp)
}

// Accumulate implements rma.Window.
func (w *Window) Accumulate(target rma.Rank, disp rma.Disp, op rma.Op, operand uint64) {
	defer named(target)
	w.Shared.Accumulate(w.of("Accumulate", target, disp), disp, op, operand)
}

// FetchOp implements rma.Window.
func (w *Window) FetchOp(target rma.Rank, disp rma.Disp, op rma.Op, operand uint64) uint64 {
	defer named(target)
	return w.Shared.FetchOp(w.of("FetchOp", target, disp), disp, op, operand)
}

// CAS implements rma.Window.
func (w *Window) CAS(target rma.Rank, disp rma.Disp, old, new uint64) uint64 {
	defer named(target)
	return w.Shared.CAS(w.of("CAS", target, disp), disp, old, new)
}

// Flush implements rma.Window.
func (w *Window) Flush(target rma.Rank) {
	defer named(target)
	w.Shared.Flush(w.of("Flush", target, 0))
}

// Await implements rma.Window.
func (w *Window) Await(ctx context.Context, target rma.Rank, disp rma.Disp, until rma.Until) (uint64, error) {
	defer named(target)
	return w.Shared.Await(ctx, w.of("Await", target, disp), disp, until)
}

// PutBytes implements rma.Window.
func (w *Window) PutBytes(target rma.Rank, disp rma.Disp, src []byte) {
	defer named(target)
	w.Shared.PutBytes(w.of("PutBytes", target, disp), disp, src)
}

// GetBytes implements rma.Window.
func (w *Window) GetBytes(target rma.Rank, disp rma.Disp, dst []byte) {
	defer named(target)
	w.Shared.GetBytes(w.of("GetBytes", target, disp), disp, dst)
}

// Direct implements rma.Shared. The word's target is the part's rank, so it needs the
// memory itself.
func (w *Window) Direct(target rma.Rank, disp rma.Disp) (rma.Word, bool) {
	defer named(target)
	words, ok := w.Shared.Memory(w.of("Direct", target, disp), disp, 1)
	if !ok {
		return rma.Word{}, false
	}
	return rma.WordAt(&words[0], target, disp), true
}

// Memory implements rma.Shared.
func (w *Window) Memory(target rma.Rank, disp rma.Disp, n int) ([]uint64, bool) {
	defer named(target)
	return w.Shared.Memory(w.of("Memory", target, disp), disp, n)
}

// Notify implements rma.Shared.
func (w *Window) Notify(target rma.Rank, disp rma.Disp) {
	defer named(target)
	w.Shared.Notify(w.of("Notify", target, disp), disp)
}

// HandedOver implements rma.Considerate. A window of the whole that is not considerate
// never stays away, and neither does this one.
func (w *Window) HandedOver() {
	if w.beside != nil {
		w.beside.HandedOver()
	}
}

// Returns implements rma.Considerate.
func (w *Window) Returns(turns int) (again int) {
	if w.beside == nil {
		return 0
	}
	return w.beside.Returns(turns)
}
