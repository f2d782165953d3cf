package sim

import (
	"context"
	"errors"
	"fmt"

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
	err     error  // the error that the body returned
	history uint64 // fingerprint of every value that it has seen
	seen    uint64 // the version of memory at its last step
	woken   bool   // it awaits a word and has been woken
	flying  []int  // number of operations in flight, by target; nil before the first
	inAir   int    // number of operations in flight, to all targets

	ctx    context.Context
	cancel context.CancelFunc

	// When predicting, in picoseconds:
	now      int64 // the rank's time
	home     int64 // when the last acknowledgement of its arrived operations is back
	flushing bool  // it waits in a flush for its last arrival
	listed   bool  // watch lists it under the word that it awaits

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

// fly counts an operation to target as in flight.
func (r *rank) fly(target rma.Rank, ranks int) {
	if r.flying == nil {
		r.flying = make([]int, ranks)
	}
	r.flying[target]++
	r.inAir++
}

// land counts an operation to target as arrived.
func (r *rank) land(target rma.Rank) {
	r.flying[target]--
	r.inAir--
	if invariant.Enabled {
		invariant.Check(r.flying[target] >= 0 && r.inAir >= 0, "more operations of rank %d have arrived than it has issued", r.id)
	}
}

// airborne is how many operations a flush has to wait for.
func (r *rank) airborne(q *request) int {
	if q.kind == opFlushAll {
		return r.inAir
	}
	if r.flying == nil {
		return 0
	}
	return r.flying[q.target]
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
