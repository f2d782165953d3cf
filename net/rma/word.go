package rma

import "sync/atomic"

// Word is one word of a rank's memory as an atomic variable. In shared memory an
// access is one atomic instruction, sequentially consistent as in sync/atomic.
// Elsewhere an Atomics makes it.
//
// A change of a Word wakes no rank that awaits the word: see [Shared.Notify].
type Word struct {
	at     *uint64 // nil: by makes the access
	by     Atomics
	Target Rank
	Disp   Disp
}

// Atomics accesses words of memory, each access complete when it returns.
type Atomics interface {
	// Load is Word.Load of target's word at disp; so are the others.
	Load(target Rank, disp Disp) uint64
	// Store is Word.Store.
	Store(target Rank, disp Disp, v uint64)
	// Swap is Word.Swap.
	Swap(target Rank, disp Disp, v uint64) (old uint64)
	// Add is Word.Add.
	Add(target Rank, disp Disp, delta uint64) (old uint64)
	// CompareAndSwap is Word.CompareAndSwap.
	CompareAndSwap(target Rank, disp Disp, old, new uint64) (swapped bool)
}

// WordAt is target's word at disp, whose memory is at.
func WordAt(at *uint64, target Rank, disp Disp) Word {
	return Word{at: at, Target: target, Disp: disp}
}

// WordBy is target's word at disp, which by accesses.
func WordBy(by Atomics, target Rank, disp Disp) Word {
	return Word{by: by, Target: target, Disp: disp}
}

// Load returns the word's value.
func (w *Word) Load() uint64 {
	if w.at != nil {
		return atomic.LoadUint64(w.at)
	}
	return w.by.Load(w.Target, w.Disp)
}

// Store sets the word. It is an exchange, because the race detector turns a store
// to memory that Go did not allocate into one that later loads may overtake.
func (w *Word) Store(v uint64) {
	if w.at != nil {
		atomic.SwapUint64(w.at, v)
		return
	}
	w.by.Store(w.Target, w.Disp, v)
}

// Swap sets the word and returns its value before.
func (w *Word) Swap(v uint64) (old uint64) {
	if w.at != nil {
		return atomic.SwapUint64(w.at, v)
	}
	return w.by.Swap(w.Target, w.Disp, v)
}

// Add adds delta, with wrap-around, and returns the value before.
func (w *Word) Add(delta uint64) (old uint64) {
	if w.at != nil {
		return atomic.AddUint64(w.at, delta) - delta
	}
	return w.by.Add(w.Target, w.Disp, delta)
}

// CompareAndSwap sets the word to new if it holds old, and reports whether it did.
func (w *Word) CompareAndSwap(old, new uint64) (swapped bool) {
	if w.at != nil {
		return atomic.CompareAndSwapUint64(w.at, old, new)
	}
	return w.by.CompareAndSwap(w.Target, w.Disp, old, new)
}
