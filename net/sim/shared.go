package sim

import (
	"sync/atomic"

	"github.com/orwl/go-orwl/net/rma"
)

// Direct access to shared memory, where System.Shared says that there is any. Each
// access is a step of the schedule, and what it returns is a value that the rank has
// seen. So the explorer plays the program that runs on real memory: an algorithm's
// atomic instructions, and the wake-ups that it must not forget.

// Direct implements rma.Shared.
func (w *Window) Direct(target rma.Rank, disp rma.Disp) (rma.Word, bool) {
	w.check("Direct", target, disp, 8)
	return rma.WordBy(instructions{w}, target, disp), w.fabric.shared && w.err == nil
}

// Memory implements rma.Shared: there is none that the simulator would not see.
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

// A rank that awaits a word may spin, or it may sleep. One that spins goes on as soon
// as its condition holds. One that sleeps goes on when it is told, by an operation
// that changes the word or by a Notify. The explorer does not choose between the two.
// It lets the rank go on whenever the condition holds, and it does not rely on that:
// a run in which all that can happen is that ranks go on which were not told is a
// deadlock. See explorer.stranded.
//
// A rank that was told looks at its word again. If its condition does not hold any
// more it sleeps again, and has to be told again.

// await notes whether r has to be told, when it begins to wait.
func (x *explorer) await(r *rank) {
	r.woken = r.request.until.Holds(x.memory.load(r.request.target, r.request.disp))
}

// wake is what the request q, which has taken effect and returned result, means for
// the ranks that await its word. Where no memory is shared every change wakes.
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

// unwoken reports whether r can go on only because it may be spinning.
func (x *explorer) unwoken(r *rank) bool {
	q := &r.request
	return x.shared && q.kind == opAwait && !r.woken && q.ctx.Err() == nil && r.window.err == nil
}
