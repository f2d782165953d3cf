package direct

import "github.com/orwl/go-orwl/net/rma"

// near is the segment and the memory behind a displacement of symmetric memory, or no
// memory for any other one: then call far. It is small enough that the compiler puts
// it into every operation.
func (w *Window) near(target rma.Rank, disp rma.Disp) (*Segment, *uint64) {
	if uint(target) < uint(len(w.segments)) && !w.failed.Load() {
		s := &w.segments[target]
		if uint(disp) < uint(len(s.Heap)) {
			return s, &s.Heap[disp]
		}
	}
	return nil, nil
}

// far is near for dynamic memory. It panics if the address does not exist. If the
// window has failed it is a word of the window's own that is 0, so that operations do
// nothing and return 0.
//
//go:noinline
func (w *Window) far(operation string, target rma.Rank, disp rma.Disp) (*Segment, *uint64) {
	if words := w.words(operation, target, disp, 1); words != nil {
		return &w.segments[target], &words[0]
	}
	w.nothing = 0
	return &w.segments[target], &w.nothing
}

// words is n words of memory, or nil if the window has failed.
func (w *Window) words(operation string, target rma.Rank, disp rma.Disp, n int) []uint64 {
	if uint(target) >= uint(len(w.segments)) || n < 0 {
		w.refuse(operation, target, disp, n)
	}
	if w.failed.Load() {
		return nil
	}
	memory, offset := w.segments[target].Heap, int(disp)
	if disp.IsDynamic() {
		slot, generation, within := disp.Dynamic()
		memory, offset = w.world.Memory.Region(target, slot, generation), within
	}
	if uint(offset) > uint(len(memory)) || n > len(memory)-offset {
		w.refuse(operation, target, disp, n)
	}
	return memory[offset : offset+n : offset+n]
}

// refuse panics with what is wrong with the address.
func (w *Window) refuse(operation string, target rma.Rank, disp rma.Disp, n int) {
	e := &rma.AddressError{Operation: operation, Target: target, Disp: disp, Bytes: 8 * n}
	switch {
	case uint(target) >= uint(len(w.segments)):
		e.Why = "the fabric has no such rank"
	case n < 0:
		e.Why = "negative length"
	case disp.IsDynamic():
		e.Why = "outside every region that is attached now"
	default:
		e.Why = "outside the symmetric memory"
	}
	panic(e)
}
