package resource

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"
)

// The leaf rule keeps relaxed access from breaking liveness:
//
//  1. A task that holds an ordered grant makes no relaxed access to a resource that has
//     ordered requests. The access waits for them, and one of them may wait for the task.
//  2. A task inside a relaxed access waits for no ordered grant. Ordered requests wait
//     until it leaves.
//  3. The first relaxed access of a resource waits for every request that was made before
//     it. A task with a request that it has not acquired must not make that access.
//     A pair always has such a request: call [Resource.Open] before the first one.
//
// Go cannot tell which task a goroutine runs, so a context says it. With a context that
// carries a [Holder], an access that breaks the rule fails at once. With any other
// context it may wait for ever.

// ErrLeafRule says that an access breaks the leaf rule. It would mix ordered and relaxed
// access in a way that may wait for ever.
var ErrLeafRule = errors.New("breaks the leaf rule")

// Holder stands for a task in the contexts that are used on its behalf. It knows what the
// task holds in order, and whether the task is inside a relaxed access.
//
// One goroutine at a time uses such a context for ordered and relaxed access. Another
// goroutine of the same program uses a context without the Holder.
type Holder struct {
	name   string
	places iter.Seq[*Place]
	inside atomic.Int64             // relaxed accesses
	outer  atomic.Pointer[Resource] // of the outermost one
}

// NewHolder makes a Holder. The name is for errors, and the task makes its ordered
// accesses by places.
func NewHolder(name string, places iter.Seq[*Place]) *Holder {
	return &Holder{name: name, places: places}
}

// holderKey is the key of a context's Holder.
type holderKey struct{}

// Context returns a context that carries h.
func (h *Holder) Context(parent context.Context) context.Context {
	return context.WithValue(parent, holderKey{}, h)
}

// holderOf returns the Holder that ctx carries, or nil. All methods of a nil Holder allow
// everything.
func holderOf(ctx context.Context) *Holder {
	h, _ := ctx.Value(holderKey{}).(*Holder)
	return h
}

// Inside reports whether the task is inside a relaxed access.
func (h *Holder) Inside() bool { return h != nil && h.inside.Load() > 0 }

// enter notes that the task is inside a relaxed access of r, until leave.
func (h *Holder) enter(r *Resource) {
	if h != nil {
		if h.inside.Add(1) == 1 {
			h.outer.Store(r)
		}
	}
}

func (h *Holder) leave() {
	if h != nil {
		h.inside.Add(-1)
	}
}

// mayRelax returns an error if a relaxed access of r by the task breaks the leaf rule.
func (h *Holder) mayRelax(r *Resource) error {
	if h == nil || r.mirror == nil && !r.outstanding() {
		return nil // a mirror does not know of other nodes' requests
	}
	return h.conflict(r, r.unopened())
}

// conflict returns an error if a relaxed access of r conflicts with an ordered access of
// the task. First says that no relaxed access of r has come before. It is apart from
// mayRelax because its loop allocates.
func (h *Holder) conflict(r *Resource, first bool) error {
	for p := range h.places {
		switch s := p.state.Load(); {
		case s&heldBit != 0:
			return fmt.Errorf("%w: %s holds an ordered grant of %q: release it first", ErrLeafRule, h.name, p.r.name)
		case first && s&(requestedBit|doorBit) == requestedBit && p.r == r:
			return fmt.Errorf("%w: %s has requested %q, and the first relaxed access waits for that: call Open before Run, or before the first request", ErrLeafRule, h.name, r.name)
		}
	}
	return nil
}

// mayWait returns an error if the task must not wait for an ordered grant.
func (h *Holder) mayWait() error {
	if !h.Inside() {
		return nil
	}
	return fmt.Errorf("%w: %s is inside a relaxed access of %q: leave it first", ErrLeafRule, h.name, h.outer.Load().name)
}

// outstanding reports whether an ordered request is queued or granted.
func (q *queue) outstanding() bool {
	return q.requested.Load()&^flags != q.completed.Load()&^flags
}

// unopened reports whether the next relaxed access has to wait for all earlier requests.
func (r *Resource) unopened() bool {
	g := r.guard.Load()
	return g == nil || g.word.Load()&modeMask == born
}
