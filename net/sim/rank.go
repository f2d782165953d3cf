package sim

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"runtime/debug"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/net/internal/considerate"
	"github.com/orwl/go-orwl/net/internal/patience"
	"github.com/orwl/go-orwl/net/rma"
)

// rank is a rank's body, which a coroutine plays. It runs until it makes a request that has
// to be scheduled. It goes on when the request has been answered.
type rank struct {
	id     rma.Rank
	window *Window

	body    func(context.Context, rma.Window) error
	player  *player // nil when the rank will not run any more
	entered bool    // the body has begun
	halted  bool    // the body has to unwind

	request request // its request while it is blocked
	result  uint64  // the answer to the request
	failure error   // of an Await, beside the window's own

	phase   phase
	err     error    // the error that the body returned
	history uint64   // fingerprint of every value that it has seen
	seen    uint64   // the version of memory at its last step
	woken   bool     // it awaits a word and has been woken
	flying  []airway // operations in flight, by target, in no order
	inAir   int      // number of operations in flight, to all targets

	ctx    context.Context
	cancel context.CancelFunc

	// When predicting, in picoseconds:
	now      int64            // the rank's time
	home     int64            // when the last acknowledgement of its arrived operations is back
	flushing bool             // it waits in a flush for its last arrival
	listed   bool             // watch lists it under the word that it awaits
	mapped   map[address]bool // the words that it reaches by instructions, if operations are calls

	// When predicting ranks that share processors:
	cpu   int   // the processor that it has, or nowhere
	slice int64 // when it loses the processor, if another rank is ready
	waits uint  // counts its waits
	slept bool  // its last wait ended while it slept
	turns considerate.Rank
	spin  patience.Rank
}

type phase uint8

const (
	blocked phase = iota // has a request
	ended                // its body returned
	crashed              // it will never run again
)

// halt unwinds the body of a rank that never runs again.
type halt struct{}

// panicked is the error of a body that panicked.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v\n%s", p.value, p.stack) }

// Unwrap lets errors.As find a panic's value that is an error.
func (p *panicked) Unwrap() error {
	err, _ := p.value.(error)
	return err
}

// view is the rank's window as programs see it.
func (r *rank) view() rma.Window {
	if r.window.fabric.survive {
		return survivor{r.window}
	}
	return r.window
}

// run lets the rank go on until it makes a request or ends.
func (r *rank) run() { r.player.resume() }

// block hands the rank's request to the scheduler. It returns when the request has
// been answered.
func (r *rank) block() {
	if !r.halted {
		r.player.yield(struct{}{})
	}
	if r.halted {
		r.phase = crashed
		r.window.err = errHalted
		panic(halt{})
	}
}

// halt ends the rank for ever. A body that has begun and not ended unwinds.
func (r *rank) halt(c *crew) {
	if r.player == nil {
		return
	}
	if r.halted = true; r.entered && r.phase == blocked {
		r.player.resume()
	}
	c.dismiss(r.player)
	r.player = nil
}

var errHalted = errors.New("sim: rank is halted")

// remember adds a value to the fingerprint of what the rank has seen.
func (r *rank) remember(value uint64) { r.history = mix(r.history ^ mix(value)) }

// airway counts the operations of a rank that are in flight to a target. A rank has few targets at once, and a machine may
// have many ranks: a count for each pair of ranks would not fit into memory.
type airway struct {
	target rma.Rank
	n      int
}

// airwayTo finds the operations in flight to target: -1 if there are none. The newest target is likely to be asked for.
func (r *rank) airwayTo(target rma.Rank) int {
	for i := len(r.flying) - 1; i >= 0; i-- {
		if r.flying[i].target == target {
			return i
		}
	}
	return -1
}

// fly counts an operation to target as in flight.
func (r *rank) fly(target rma.Rank) {
	r.inAir++
	if i := r.airwayTo(target); i >= 0 {
		r.flying[i].n++
		return
	}
	r.flying = append(r.flying, airway{target, 1})
}

// land counts an operation to target as arrived.
func (r *rank) land(target rma.Rank) {
	i := r.airwayTo(target)
	if invariant.Enabled {
		invariant.Check(i >= 0 && r.inAir > 0, "more operations of rank %d have arrived than it has issued", r.id)
	}
	r.inAir--
	if r.flying[i].n--; r.flying[i].n == 0 {
		last := len(r.flying) - 1
		r.flying[i] = r.flying[last]
		r.flying = r.flying[:last]
	}
}

// airborne is how many operations a flush has to wait for.
func (r *rank) airborne(q *request) int {
	if q.kind == opFlushAll {
		return r.inAir
	}
	if i := r.airwayTo(q.target); i >= 0 {
		return r.flying[i].n
	}
	return 0
}

// flushes reports whether the rank waits for its operations on target to arrive.
func (r *rank) flushes(target rma.Rank) bool {
	q := &r.request
	return r.phase == blocked && (q.kind == opFlushAll || q.kind == opFlush && q.target == target)
}

// violation is the error with which the rank's body breaks its promise, or nil. A
// body may return the failure of its window or the end of its context.
func (r *rank) violation() error {
	switch {
	case r.phase != ended || r.err == nil:
		return nil
	case r.window.err != nil && errors.Is(r.err, r.window.err):
		return nil
	case r.ctx.Err() != nil && errors.Is(r.err, context.Cause(r.ctx)):
		return nil
	}
	return fmt.Errorf("rank %d: %w", r.id, r.err)
}

// crew is what the runs of one exploration use one after the other: coroutines, which play the
// ranks, and memory. A coroutine that has played a rank has a stack of the right size for the next
// one. An exhaustive search takes 0.74 of the processor time with a crew. A nil crew makes everything
// anew.
type crew struct {
	idle []*player
	heap []uint64
}

// words are n words of memory, all zero. The run before does not use them any more.
func (c *crew) words(n int) []uint64 {
	if c == nil || len(c.heap) < n {
		heap := make([]uint64, n)
		if c != nil {
			c.heap = heap
		}
		return heap
	}
	heap := c.heap[:n:n]
	clear(heap)
	return heap
}

// player is a coroutine. It plays one rank until the rank's body ends, and waits for the next.
type player struct {
	rank   *rank
	yield  func(struct{}) bool     // to the scheduler
	resume func() (struct{}, bool) // from the scheduler
	stop   func()
}

// hire returns a player for a rank. The player does not run yet.
func (c *crew) hire(r *rank) *player {
	if c != nil && len(c.idle) > 0 {
		last := len(c.idle) - 1
		p := c.idle[last]
		c.idle = c.idle[:last]
		p.rank = r
		return p
	}
	p := &player{rank: r}
	p.resume, p.stop = iter.Pull(func(yield func(struct{}) bool) {
		p.yield = yield
		for p.play(); yield(struct{}{}); p.play() {
		}
	})
	return p
}

// dismiss takes back a player whose rank is not in its body.
func (c *crew) dismiss(p *player) {
	if p.rank = nil; c == nil {
		p.stop()
		return
	}
	c.idle = append(c.idle, p)
}

// end stops all players.
func (c *crew) end() {
	for _, p := range c.idle {
		p.stop()
	}
	c.idle = nil
}

// play runs the body of the rank.
func (p *player) play() {
	r := p.rank
	defer func() {
		switch value := recover().(type) {
		case nil:
		case halt:
			return
		default:
			r.err = &panicked{value, debug.Stack()}
		}
		r.phase = ended
	}()
	r.entered = true
	r.err = r.body(r.ctx, r.view())
}

// kind is the kind of an operation.
type kind uint8

const (
	opPut kind = iota
	opAccumulate
	opPutBytes
	opGet
	opFetch
	opCAS
	opGetBytes
	opFlush
	opFlushAll
	opAwait
	opPause

	// Direct access to shared memory. All but opNotify are instructions. Notify is
	// an operation of the window.
	opLoad
	opStore
	opSwap
	opAdd
	opCompareAndSwap
	opNotify

	// A rank lets others run that share its processor.
	opYield // offers its processor
	opSleep // sleeps for operand picoseconds
)

var kindNames = [...]string{"Put", "Accumulate", "PutBytes", "Get", "FetchOp", "CAS", "GetBytes",
	"Flush", "FlushAll", "Await", "Pause",
	"load", "store", "swap", "add", "compare-and-swap", "Notify", "yield", "sleep"}

func (k kind) String() string { return kindNames[k] }

// request is an operation that a rank asks for.
type request struct {
	kind    kind
	op      rma.Op
	target  rma.Rank
	disp    rma.Disp
	operand uint64 // the value, the operand, CAS's new, Pause's n
	old     uint64 // CAS
	until   rma.Until
	ctx     context.Context
	epoch   *rma.Epoch // the Await ends with it, if not nil
	words   []uint64   // the words of a PutBytes
	bytes   []byte     // the destination of a GetBytes
}

// ended is why an Await ends though its condition does not hold, or nil.
func (q *request) ended() error {
	if q.epoch != nil && q.epoch.Err() != nil {
		return q.epoch.Err()
	}
	return q.ctx.Err()
}

// buffered reports whether the request is a change that its rank does not wait for.
// It is complete only after a Flush.
func (q *request) buffered() bool { return q.kind <= opPutBytes }

// changes reports whether the request may change its word, so that the rank needs the
// word's cache line for itself.
func (q *request) changes() bool {
	switch q.kind {
	case opGet, opGetBytes, opAwait, opLoad, opNotify:
		return false
	}
	return true
}

// direct reports whether the request is an instruction on shared memory. It takes
// effect on a failed window, too. It wakes no rank.
func (q *request) direct() bool { return q.kind >= opLoad && q.kind <= opCompareAndSwap }

// remote reports whether the request goes through the network, to the memory of its target.
func (q *request) remote() bool {
	switch q.kind {
	case opFlush, opFlushAll, opPause, opYield, opSleep:
		return false
	}
	return !q.direct()
}

// wakes reports whether the request wakes the ranks that await its word and whose
// condition holds. result is what the request returned.
func (q *request) wakes(result uint64) bool {
	switch q.kind {
	case opPut, opNotify:
		return true
	case opAccumulate, opFetch:
		return q.op != rma.NoOp
	case opCAS:
		return result == q.old
	}
	return false
}

// apply performs the operation on memory and returns its value.
func (q *request) apply(m *memory) uint64 {
	switch q.kind {
	case opPut, opStore:
		m.store(q.target, q.disp, q.operand)
	case opSwap, opAdd:
		old := m.load(q.target, q.disp)
		if q.kind == opAdd {
			m.store(q.target, q.disp, old+q.operand)
		} else {
			m.store(q.target, q.disp, q.operand)
		}
		return old
	case opCompareAndSwap:
		if m.load(q.target, q.disp) != q.old {
			return 0
		}
		m.store(q.target, q.disp, q.operand)
		return 1
	case opAccumulate, opFetch:
		old := m.load(q.target, q.disp)
		switch q.op {
		case rma.Sum:
			m.store(q.target, q.disp, old+q.operand)
		case rma.Replace:
			m.store(q.target, q.disp, q.operand)
		}
		return old
	case opCAS:
		old := m.load(q.target, q.disp)
		if old == q.old {
			m.store(q.target, q.disp, q.operand)
		}
		return old
	case opGet, opAwait, opLoad:
		return m.load(q.target, q.disp)
	case opPutBytes:
		for i, word := range q.words {
			m.store(q.target, q.disp+rma.Disp(i), word)
		}
	case opGetBytes:
		words := m.at(q.target, q.disp, len(q.bytes)/8)
		return readWords(q.bytes, words)
	}
	return 0
}

// fingerprint is a fingerprint of an operation in flight.
func (q *request) fingerprint(origin rma.Rank) uint64 {
	print := mix(uint64(q.kind)<<56 ^ uint64(q.op)<<48 ^ uint64(origin)<<24 ^ uint64(q.target))
	print = mix(print ^ uint64(q.disp))
	print = mix(print ^ q.operand)
	for _, word := range q.words {
		print = mix(print ^ word)
	}
	return print
}

// wordsOf copies the bytes of a bulk transfer, so that the caller may reuse them.
func wordsOf(src []byte) []uint64 {
	words := make([]uint64, len(src)/8)
	for i := range words {
		words[i] = binary.NativeEndian.Uint64(src[8*i:])
	}
	return words
}

// readWords copies words to dst. It returns a fingerprint of them.
func readWords(dst []byte, words []uint64) uint64 {
	var print uint64
	for i := range min(len(words), len(dst)/8) {
		binary.NativeEndian.PutUint64(dst[8*i:], words[i])
		print = mix(print ^ words[i])
	}
	return print
}
