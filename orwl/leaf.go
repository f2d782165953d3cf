package orwl

import (
	"context"
	"fmt"

	"github.com/orwl/go-orwl/resource"
)

// stand makes the task's context, which carries what package resource needs for the leaf
// rule. Most step tasks never ask for it.
func (t *Task) stand() {
	t.holder = resource.NewHolder(fmt.Sprintf("task %q", t.name), t.places)
	t.ctx = context.WithValue(t.holder.Context(t.run.ctx), taskKey{}, t)
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
	t.stands.Do(t.stand)
	return t.ctx
}
