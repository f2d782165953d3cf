package sim

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime/debug"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/net/rma"
)

// rank is a rank's body as a coroutine: it runs until it asks for something
// that has to be scheduled, and goes on when the answer is there.
type rank struct {
	id     rma.Rank
	window *Window

	yield  func(struct{}) bool     // to the scheduler
	resume func() (struct{}, bool) // from the scheduler
	stop   func()

	request request // what it asks for while it is blocked
	result  uint64  // the answer
	failure error   // of an Await, beside the window's own

	phase   phase
	err     error  // what the body returned
	history uint64 // fingerprint of every value it has seen
	seen    uint64 // the version of memory at its last step
	woken   bool   // it awaits a word, and was told that it can go on
	flying  []int  // operations in flight, by target; nil until there are any
	inAir   int    // and in all

	ctx    context.Context
	cancel context.CancelFunc

	// When predicting:
	now      int64 // the rank's time
	home     int64 // when everything it sent and that has arrived is acknowledged
	flushing bool  // it waits for the last arrival
	listed   bool  // it is among the watchers of the word that it awaits
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

// start makes the coroutine; it does not run yet.
func (r *rank) start(body func(context.Context, rma.Window) error) {
	r.resume, r.stop = iter.Pull(func(yield func(struct{}) bool) {
		r.yield = yield
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
		r.err = body(r.ctx, r.window)
	})
}

// run lets the rank go on until it asks for something or ends.
func (r *rank) run() { r.resume() }

// block hands the rank's request to the scheduler and returns when it has been
// answered.
func (r *rank) block() {
	if !r.yield(struct{}{}) {
		r.phase = crashed
		r.window.err = errHalted
		panic(halt{})
	}
}

var errHalted = errors.New("sim: rank is halted")

// remember adds a value to what the rank has seen.
func (r *rank) remember(value uint64) { r.history = mix(r.history ^ mix(value)) }

// fly counts an operation to target as in flight, land as arrived.
func (r *rank) fly(target rma.Rank, ranks int) {
	if r.flying == nil {
		r.flying = make([]int, ranks)
	}
	r.flying[target]++
	r.inAir++
}

func (r *rank) land(target rma.Rank) {
	r.flying[target]--
	r.inAir--
	if invariant.Enabled {
		invariant.Check(r.flying[target] >= 0 && r.inAir >= 0, "more of rank %d's operations arrived than were issued", r.id)
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

// flushes reports whether the rank waits for its operations on target.
func (r *rank) flushes(target rma.Rank) bool {
	q := &r.request
	return r.phase == blocked && (q.kind == opFlushAll || q.kind == opFlush && q.target == target)
}

// violation is the promise that the rank's end breaks, or nil.
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
