package direct

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/orwl/go-orwl/internal/park"
	"github.com/orwl/go-orwl/net/internal/considerate"
	"github.com/orwl/go-orwl/net/internal/patience"
	"github.com/orwl/go-orwl/net/rma"
)

// Sleeper puts ranks to sleep and wakes them.
type Sleeper interface {
	// Sleep calls doze once, which announces that rank p sleeps, and returns after a
	// Wake that comes later than that.
	Sleep(p rma.Rank, doze func())
	// Wake wakes rank p. Any goroutine may call it, and so may doze, once each time
	// that it moves the rank's Room to awake.
	Wake(p rma.Rank)
	// Rest sleeps for d, and lets other ranks have the processor.
	Rest(d time.Duration)
}

// Memory is the dynamic part of every rank's memory.
type Memory interface {
	// Region is the memory of a slot of target, or nil if that generation of it is
	// not attached.
	Region(target rma.Rank, slot int, generation uint64) []uint64
	// Attach and Detach change rank p's own part.
	Attach(p rma.Rank, words int) (rma.Region, error)
	Detach(p rma.Rank, base rma.Disp) error
}

// World is what all windows of a process share.
type World struct {
	Segments []Segment
	// Places, one for each rank, are where ranks park that are goroutines of this
	// process. NewWindow fills them in; make all windows before you use one.
	// Without Places, Sleeper puts the ranks to sleep.
	Places  []*park.Place
	Sleeper Sleeper
	Memory  Memory
	Spin    patience.Limits
	Crowd   *considerate.Crowd
}

// wake makes the wake-up that rank p is owed.
func (w *World) wake(p rma.Rank) {
	if w.Places != nil {
		w.Places[p].Unpark()
	} else {
		w.Sleeper.Wake(p)
	}
}

// Window is rank p's window on a World. Many ranks share few processors' caches, so
// fields that are used together lie together.
type Window struct {
	// Every operation reads these.
	failed   atomic.Bool
	nudged   atomic.Bool // look again for a reason to end the wait
	parks    bool        // at place; otherwise Sleeper puts the rank to sleep
	rank     rma.Rank
	segments []Segment
	room     *Room
	world    *World

	// Every wait writes these.
	place park.Place
	word  *uint64 // the rank waits for it
	until rma.Until
	spin  patience.Rank

	dozeOff func() // doze
	err     error  // written before failed
	nothing uint64 // see far
	failing atomic.Bool
	slept   bool        // the last wait ended while the rank slept
	waits   atomic.Bool // a goroutine waits; only the invariant uses it

	turns considerate.Rank
	start time.Time // see now

	epoch  atomic.Pointer[rma.Epoch] // nil: the window fails when a rank is lost
	endsOf *rma.Epoch                // the wait ends with this epoch, if not nil

	_ [64]byte // two windows must not share a line
}

var (
	_ rma.Shared      = (*Window)(nil)
	_ rma.Considerate = (*Window)(nil)
	_ rma.Immediate   = (*Window)(nil)
)

// NewWindow is rank p's window.
func NewWindow(p rma.Rank, world *World) *Window {
	w := &Window{rank: p, room: world.Segments[p].Room, world: world, segments: world.Segments,
		spin: world.Spin.Rank(runtime.GOMAXPROCS(0)), turns: world.Crowd.Rank(), start: time.Now()}
	w.dozeOff = w.doze
	if world.Places != nil {
		w.parks = true
		w.place.Init(w.dozeOff)
		world.Places[p] = &w.place
	}
	return w
}

// Rank implements rma.Window.
func (w *Window) Rank() rma.Rank { return w.rank }

// Put implements rma.Window.
func (w *Window) Put(target rma.Rank, disp rma.Disp, value uint64) {
	s, word := w.near(target, disp)
	if word == nil {
		s, word = w.far("Put", target, disp)
	}
	atomic.SwapUint64(word, value) // see Room.doze
	if s.Room.concerns(disp) {
		w.notify(s, target, disp, word)
	}
}

// Get implements rma.Window.
func (w *Window) Get(target rma.Rank, disp rma.Disp) uint64 {
	_, word := w.near(target, disp)
	if word == nil {
		_, word = w.far("Get", target, disp)
	}
	return atomic.LoadUint64(word)
}

// Accumulate implements rma.Window.
func (w *Window) Accumulate(target rma.Rank, disp rma.Disp, op rma.Op, operand uint64) {
	if _, word := w.near(target, disp); word == nil {
		w.far("Accumulate", target, disp) // so that an error names this operation
	}
	w.FetchOp(target, disp, op, operand)
}

// FetchOp implements rma.Window.
func (w *Window) FetchOp(target rma.Rank, disp rma.Disp, op rma.Op, operand uint64) uint64 {
	s, word := w.near(target, disp)
	if word == nil {
		s, word = w.far("FetchOp", target, disp)
	}
	var old uint64
	switch op {
	case rma.Sum:
		old = atomic.AddUint64(word, operand) - operand
	case rma.Replace:
		old = atomic.SwapUint64(word, operand)
	default:
		return atomic.LoadUint64(word)
	}
	if s.Room.concerns(disp) {
		w.notify(s, target, disp, word)
	}
	return old
}

// CAS implements rma.Window.
func (w *Window) CAS(target rma.Rank, disp rma.Disp, old, new uint64) uint64 {
	s, word := w.near(target, disp)
	if word == nil {
		s, word = w.far("CAS", target, disp)
	}
	for !atomic.CompareAndSwapUint64(word, old, new) {
		if seen := atomic.LoadUint64(word); seen != old {
			return seen
		}
	}
	if s.Room.concerns(disp) {
		w.notify(s, target, disp, word)
	}
	return old
}

// Flush implements rma.Window. Every operation was complete when it returned.
func (w *Window) Flush(target rma.Rank) {
	if uint(target) >= uint(len(w.segments)) {
		w.refuse("Flush", target, 0, 0)
	}
}

// FlushAll implements rma.Window.
func (w *Window) FlushAll() {}

// Immediate implements rma.Immediate.
func (w *Window) Immediate() {}

// pauseYields is the Pause from which on a rank gives its processor away: it takes as
// long as a switch to another goroutine and back.
const pauseYields = 64

// Pause implements rma.Window.
func (w *Window) Pause(n int) {
	if n > pauseYields || w.spin.Alone() {
		runtime.Gosched()
		return
	}
	relax(uint32(max(n, 0)))
}

// Direct implements rma.Shared.
func (w *Window) Direct(target rma.Rank, disp rma.Disp) (rma.Word, bool) {
	_, word := w.near(target, disp)
	if word == nil {
		_, word = w.far("Direct", target, disp)
	}
	return rma.WordAt(word, target, disp), word != nil
}

// Memory implements rma.Shared.
func (w *Window) Memory(target rma.Rank, disp rma.Disp, n int) ([]uint64, bool) {
	words := w.words("Memory", target, disp, n)
	return words, words != nil
}

// Notify implements rma.Shared.
func (w *Window) Notify(target rma.Rank, disp rma.Disp) {
	s, word := w.near(target, disp)
	if word == nil {
		s, word = w.far("Notify", target, disp)
	}
	if s.Room.concerns(disp) {
		w.notify(s, target, disp, word)
	}
}

// Failed implements rma.Shared.
func (w *Window) Failed() *atomic.Bool { return &w.failed }

// Attach implements rma.Window.
func (w *Window) Attach(words int) (rma.Region, error) {
	if err := w.Err(); err != nil {
		return rma.Region{}, err
	}
	return w.world.Memory.Attach(w.rank, words)
}

// Detach implements rma.Window.
func (w *Window) Detach(base rma.Disp) error { return w.world.Memory.Detach(w.rank, base) }

// Err implements rma.Window.
func (w *Window) Err() error {
	if w.failed.Load() {
		return w.err
	}
	return nil
}

// Fail makes err this window's sticky failure, unless it has one, and wakes its rank.
// Any goroutine may call it.
func (w *Window) Fail(err error) {
	if w.failing.CompareAndSwap(false, true) {
		w.err = err
		w.failed.Store(true)
	}
	w.endEpochIfFailed()
	w.nudge()
}

// nudge makes the rank look at its word, its context and its failure again.
func (w *Window) nudge() {
	w.nudged.Store(true)
	if w.room.Awaken() {
		w.world.wake(w.rank)
	}
}

// PutBytes implements rma.Window.
func (w *Window) PutBytes(target rma.Rank, disp rma.Disp, src []byte) {
	copy(w.bytes("PutBytes", target, disp, len(src)), src)
}

// GetBytes implements rma.Window.
func (w *Window) GetBytes(target rma.Rank, disp rma.Disp, dst []byte) {
	if memory := w.bytes("GetBytes", target, disp, len(dst)); memory != nil {
		copy(dst, memory)
	} else {
		clear(dst)
	}
}

// bytes is n bytes of memory, whole words, or nil if the window has failed or n is 0.
//
// unsafe: it views words as bytes, in the machine's byte order. A loop over the words
// takes twice as long for 64 bytes and six to ten times as long from 4 KiB on.
func (w *Window) bytes(operation string, target rma.Rank, disp rma.Disp, n int) []byte {
	if n%8 != 0 {
		panic(&rma.AddressError{Operation: operation, Target: target, Disp: disp, Bytes: n,
			Why: "a bulk transfer moves whole words: round its length up to a multiple of 8"})
	}
	words := w.words(operation, target, disp, n/8)
	if len(words) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), n)
}

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

// Survivor is a window that goes on after a loss. Make its Window survive first.
type Survivor struct{ *Window }

var _ rma.Survivor = Survivor{}

// Survive makes the window go on after a loss. Call it before anything else.
func (w *Window) Survive() { w.epoch.Store(new(rma.Epoch)) }

// Lose tells a window that survives of a loss, and wakes its rank. One goroutine at a time
// calls it. It may run beside Fail.
func (w *Window) Lose(loss *rma.PeerLostError) {
	e := w.epoch.Load()
	w.epoch.Store(e.With(loss.Rank))
	e.End(loss)
	w.endEpochIfFailed()
	w.nudge()
}

// endEpochIfFailed ends the epoch of a window that has failed. Fail calls it after it has made the
// window fail, and Lose after it has begun an epoch: the later one ends that epoch.
func (w *Window) endEpochIfFailed() {
	if e := w.epoch.Load(); e != nil && w.failed.Load() {
		e.End(w.err)
	}
}

// Epoch implements rma.Survivor.
func (s Survivor) Epoch() *rma.Epoch { return s.epoch.Load() }

// AwaitIn implements rma.Survivor.
func (s Survivor) AwaitIn(ctx context.Context, e *rma.Epoch, target rma.Rank, disp rma.Disp, until rma.Until) (uint64, error) {
	if err := e.Err(); err != nil {
		return 0, err
	}
	s.endsOf = e
	value, err := s.Await(ctx, target, disp, until)
	s.endsOf = nil
	return value, err
}
