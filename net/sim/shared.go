package sim

import (
	"sync/atomic"

	"github.com/orwl/go-orwl/net/rma"
)

// Direct access to shared memory (System.Shared). Each access is a step of the
// schedule, and its result is a value that the rank has seen. So the explorer plays
// the program that runs on real memory: an algorithm's atomic instructions, and the
// wake-ups that it must not forget.

// Direct implements rma.Shared.
func (w *Window) Direct(target rma.Rank, disp rma.Disp) (rma.Word, bool) {
	w.check("Direct", target, disp, 8)
	return rma.WordBy(instructions{w}, target, disp), w.fabric.shared && w.err == nil
}

// Memory implements rma.Shared. It always reports false: the simulator could not see
// an access through a slice.
func (w *Window) Memory(target rma.Rank, disp rma.Disp, n int) ([]uint64, bool) {
	w.check("Memory", target, disp, 8*n)
	return nil, false
}

// Notify implements rma.Shared.
func (w *Window) Notify(target rma.Rank, disp rma.Disp) {
	w.do(request{kind: opNotify, target: target, disp: disp})
}

// Failed implements rma.Shared.
func (w *Window) Failed() *atomic.Bool { return &w.failed }

// instructions are a rank's atomic instructions.
type instructions struct{ w *Window }

func (i instructions) Load(target rma.Rank, disp rma.Disp) uint64 {
	return i.w.do(request{kind: opLoad, target: target, disp: disp})
}

func (i instructions) Store(target rma.Rank, disp rma.Disp, v uint64) {
	i.w.do(request{kind: opStore, target: target, disp: disp, operand: v})
}

func (i instructions) Swap(target rma.Rank, disp rma.Disp, v uint64) uint64 {
	return i.w.do(request{kind: opSwap, target: target, disp: disp, operand: v})
}

func (i instructions) Add(target rma.Rank, disp rma.Disp, delta uint64) uint64 {
	return i.w.do(request{kind: opAdd, target: target, disp: disp, operand: delta})
}

func (i instructions) CompareAndSwap(target rma.Rank, disp rma.Disp, old, new uint64) bool {
	return i.w.do(request{kind: opCompareAndSwap, target: target, disp: disp, old: old, operand: new}) == 1
}

// A rank that awaits a word may spin, or it may sleep. A rank that spins goes on as
// soon as its condition holds. A rank that sleeps goes on when it is woken, by an
// operation that writes the word or by Notify. The explorer does not choose between
// the two. It lets the rank go on whenever the condition holds, but the run must not
// rely on that. If only ranks can go on that no rank has woken, the run is a
// deadlock. See explorer.stranded.
//
// A woken rank looks at its word again. If its condition no longer holds, it sleeps
// again and needs another wake-up.

// await notes, when r begins to wait, whether its condition already holds. If so, r
// needs no wake-up.
func (x *explorer) await(r *rank) {
	r.woken = r.request.until.Holds(x.memory.load(r.request.target, r.request.disp))
}

// wake updates woken of the ranks that await the word of q. The request q has taken
// effect and returned result. Without shared memory every change wakes, and there is
// nothing to note.
func (x *explorer) wake(q *request, result uint64) {
	if !x.shared {
		return
	}
	for _, r := range x.ranks {
		a := &r.request
		if r.phase != blocked || a.kind != opAwait || a.target != q.target || a.disp != q.disp {
			continue
		}
		switch holds := a.until.Holds(x.memory.load(a.target, a.disp)); {
		case !holds:
			r.woken = false
		case q.wakes(result):
			r.woken = true
		}
	}
}

// unwoken reports whether r can go on only if it spins: no rank has woken it.
func (x *explorer) unwoken(r *rank) bool {
	q := &r.request
	return x.shared && q.kind == opAwait && !r.woken && q.ctx.Err() == nil && r.window.err == nil
}
