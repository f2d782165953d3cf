package orwl

import (
	"context"
	"fmt"

	"github.com/orwl/go-orwl/resource"
)

// identity is the task's context, and the holder in it, by which package resource applies
// the leaf rule. Context makes it. Most step tasks never ask for it.
type identity struct {
	ctx    context.Context
	holder *resource.Holder
}

// taskKey is the key of a task in its context.
type taskKey struct{}

// places yields the places of the task's accesses.
func (t *Task) places(yield func(*resource.Place) bool) {
	for _, a := range t.accesses {
		if !yield(a.Place()) { // no other place of the access holds
			return
		}
	}
}

// Context ends when the run does. It stands for the task: a relaxed access with it, or
// with one derived from it, fails if it breaks the leaf rule ([resource.ErrLeafRule]).
// With any other context such an access may wait for ever. A goroutine that the body
// starts uses the context of Run for its own relaxed accesses.
func (t *Task) Context() context.Context {
	if t.identity.Load() == nil {
		h := resource.NewHolder(fmt.Sprintf("task %q", t.name), t.places)
		t.identity.CompareAndSwap(nil, &identity{context.WithValue(h.Context(t.run.ctx), taskKey{}, t), h})
	}
	return t.identity.Load().ctx
}
