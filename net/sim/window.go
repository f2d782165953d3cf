package sim

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/net/rma"
)

// Window is the window of a simulated rank. Use it only inside the rank's body.
type Window struct {
	rank    *rank
	fabric  *Fabric
	err     error
	failed  atomic.Bool // err is set
	ignored int         // operations since err
	epoch   *rma.Epoch
}

var (
	_ rma.Shared      = (*Window)(nil)
	_ rma.Considerate = (*Window)(nil)
)

// Rank implements rma.Window.
func (w *Window) Rank() rma.Rank { return w.rank.id }

// Put implements rma.Window.
func (w *Window) Put(target rma.Rank, disp rma.Disp, value uint64) {
	w.do(request{kind: opPut, target: target, disp: disp, operand: value})
}

// Get implements rma.Window.
func (w *Window) Get(target rma.Rank, disp rma.Disp) uint64 {
	return w.do(request{kind: opGet, target: target, disp: disp})
}

// Accumulate implements rma.Window.
func (w *Window) Accumulate(target rma.Rank, disp rma.Disp, op rma.Op, operand uint64) {
	w.do(request{kind: opAccumulate, op: op, target: target, disp: disp, operand: operand})
}

// FetchOp implements rma.Window.
func (w *Window) FetchOp(target rma.Rank, disp rma.Disp, op rma.Op, operand uint64) uint64 {
	return w.do(request{kind: opFetch, op: op, target: target, disp: disp, operand: operand})
}

// CAS implements rma.Window.
func (w *Window) CAS(target rma.Rank, disp rma.Disp, old, new uint64) uint64 {
	return w.do(request{kind: opCAS, target: target, disp: disp, old: old, operand: new})
}

// Flush implements rma.Window.
func (w *Window) Flush(target rma.Rank) {
	w.check("Flush", target, 0, 0)
	w.ask(request{kind: opFlush, target: target})
}

// FlushAll implements rma.Window.
func (w *Window) FlushAll() { w.ask(request{kind: opFlushAll}) }

// Pause implements rma.Window.
func (w *Window) Pause(n int) { w.ask(request{kind: opPause, operand: uint64(max(n, 0))}) }

// Await implements rma.Window.
func (w *Window) Await(ctx context.Context, target rma.Rank, disp rma.Disp, until rma.Until) (uint64, error) {
	return w.await(request{kind: opAwait, target: target, disp: disp, until: until, ctx: ctx})
}

func (w *Window) await(q request) (uint64, error) {
	value := w.do(q)
	switch {
	case w.err != nil:
		return 0, w.err
	case w.rank.failure != nil:
		return 0, w.rank.failure
	}
	return value, nil
}

// PutBytes implements rma.Window.
func (w *Window) PutBytes(target rma.Rank, disp rma.Disp, src []byte) {
	w.check("PutBytes", target, disp, len(src))
	words := wordsOf(src)
	// The transfer has two halves. A reader that does not wait for the flush may
	// see one without the other.
	half := len(words) / 2
	for _, part := range [2]request{
		{kind: opPutBytes, target: target, disp: disp, words: words[:half]},
		{kind: opPutBytes, target: target, disp: disp + rma.Disp(half), words: words[half:]},
	} {
		if len(part.words) > 0 {
			w.ask(part)
		}
	}
}

// GetBytes implements rma.Window.
func (w *Window) GetBytes(target rma.Rank, disp rma.Disp, dst []byte) {
	w.check("GetBytes", target, disp, len(dst))
	half := len(dst) / 16
	for _, part := range [2]request{
		{kind: opGetBytes, target: target, disp: disp, bytes: dst[:8*half]},
		{kind: opGetBytes, target: target, disp: disp + rma.Disp(half), bytes: dst[8*half:]},
	} {
		if len(part.bytes) > 0 {
			w.ask(part)
		}
	}
	if w.err != nil {
		clear(dst)
	}
}

// Attach implements rma.Window.
func (w *Window) Attach(words int) (rma.Region, error) {
	if w.err != nil {
		return rma.Region{}, w.err
	}
	if words < 1 || words > rma.MaxRegion {
		return rma.Region{}, &rma.AllocError{Words: words, Free: rma.MaxRegion, Why: rma.ErrNoSpace,
			Hint: "a region has at least one word and at most 1<<32"}
	}
	memory := make([]uint64, words)
	return rma.Region{Base: w.fabric.memory.attach(w.rank.id, memory), Words: memory}, nil
}

// Detach implements rma.Window.
func (w *Window) Detach(base rma.Disp) error {
	if !w.fabric.memory.detach(w.rank.id, base) {
		return fmt.Errorf("sim: detach of %s: %w", base, rma.ErrNotAttached)
	}
	return nil
}

// Err implements rma.Window.
func (w *Window) Err() error { return w.err }

// Now is the time that has passed for this rank since the run began. In a prediction
// it is virtual time. In an exploration it is one nanosecond for each step.
func (w *Window) Now() time.Duration { return w.fabric.driver.time(w.rank) }

// Compute lets the rank spend virtual time on a computation of its own.
func (w *Window) Compute(d time.Duration) { w.fabric.driver.spend(w.rank, max(d, 0)) }

// HandedOver implements rma.Considerate.
func (w *Window) HandedOver() { w.fabric.driver.handedOver(w.rank) }

// Returns implements rma.Considerate. A rank lets others run only in a prediction in which
// ranks share processors.
func (w *Window) Returns(turns int) (again int) { return w.fabric.driver.returns(w.rank, turns) }

// fail makes err the window's failure. A window keeps its first failure.
func (w *Window) fail(err error) {
	if w.err == nil {
		w.err = err
		w.failed.Store(true)
		w.epoch.End(err)
	}
}

// lose tells the window that a rank is lost.
func (w *Window) lose(loss *rma.PeerLostError) {
	if !w.fabric.survive {
		w.fail(loss)
		return
	}
	e := w.epoch
	w.epoch = e.With(loss.Rank)
	e.End(loss)
}

// survivor is a window that goes on after a loss (System.Survive).
type survivor struct{ *Window }

var _ rma.Survivor = survivor{}

// Epoch implements rma.Survivor.
func (s survivor) Epoch() *rma.Epoch { return s.epoch }

// AwaitIn implements rma.Survivor.
func (s survivor) AwaitIn(ctx context.Context, e *rma.Epoch, target rma.Rank, disp rma.Disp, until rma.Until) (uint64, error) {
	if err := e.Err(); err != nil {
		return 0, err
	}
	return s.await(request{kind: opAwait, target: target, disp: disp, until: until, ctx: ctx, epoch: e})
}

// do performs an operation on one word, after a check of its address.
func (w *Window) do(q request) uint64 {
	w.check(q.kind.String(), q.target, q.disp, 8)
	return w.ask(q)
}

// ask performs an operation. On a failed window only an instruction takes effect.
func (w *Window) ask(q request) uint64 {
	if w.err != nil {
		if w.countIgnored(); !q.direct() {
			return 0
		}
	}
	r := w.rank
	r.request, r.failure = q, nil
	if !w.fabric.driver.ask(r) {
		r.block()
	}
	if w.err != nil && !q.direct() {
		return 0
	}
	return r.result
}

// maxIgnored is how many operations a body may issue on a failed window.
const maxIgnored = 1 << 16

// countIgnored counts an operation on a failed window. It stops a body that issues
// more than maxIgnored: on real memory, the body would burn a core for ever.
func (w *Window) countIgnored() {
	if w.ignored++; w.ignored > maxIgnored {
		panic(fmt.Sprintf("sim: rank %d issued %d operations after its window failed (%v): "+
			"a loop does not look at Err or at Await's error", w.rank.id, maxIgnored, w.err))
	}
}

// check panics if the address does not exist. Every operation comes through here, so only
// a wrong address allocates.
func (w *Window) check(operation string, target rma.Rank, disp rma.Disp, n int) {
	var why string
	switch {
	case target < 0 || int(target) >= len(w.fabric.ranks):
		why = "the fabric has no such rank"
	case n%8 != 0:
		why = "a bulk transfer moves whole words: round its length up to a multiple of 8"
	case w.err != nil || w.fabric.memory.at(target, disp, n/8) != nil:
		return
	case disp.IsDynamic():
		why = "outside every region that is attached now"
	default:
		why = "outside the symmetric memory"
	}
	panic(&rma.AddressError{Operation: operation, Target: target, Disp: disp, Bytes: n, Why: why})
}

// Direct access to shared memory (System.Shared). Each access is a step of the
// schedule, and its result is a value that the rank has seen. So the explorer plays
// the program that runs on real memory: an algorithm's atomic instructions, and the
// wake-ups that it must not forget.

// Direct implements rma.Shared.
func (w *Window) Direct(target rma.Rank, disp rma.Disp) (rma.Word, bool) {
	w.check("Direct", target, disp, 8)
	ok := w.fabric.shared && w.err == nil && w.fabric.driver.sharesMemory(w.rank, target)
	if ok && w.rank.mapped != nil {
		w.rank.mapped[address{target, disp}] = true
	}
	return rma.WordBy(instructions{w}, target, disp), ok
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
	return x.shared && q.kind == opAwait && !r.woken && q.ended() == nil && r.window.err == nil
}
