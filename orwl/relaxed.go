package orwl

import (
	"context"
	"fmt"

	"github.com/orwl/go-orwl/internal/inner"
	"github.com/orwl/go-orwl/internal/queue"
)

// makeGuard makes the lock between ordered and relaxed access to a resource, at its home.
func (rt *Runtime) makeGuard(name string) (queue.Guard, error) {
	if rt.o.Nodes.many() {
		rt.mu.Lock()
		home, known := rt.homes[name], rt.settled[name]
		rt.mu.Unlock()
		switch {
		case !known:
			return queue.Guard{}, fmt.Errorf("%w: %q", inner.ErrEarly, name)
		case home != rt.Node():
			return queue.Guard{}, fmt.Errorf("%w: %q", errNotRelaxed, name)
		}
	}
	return newGuard(guardLock, lockerOptions{tree: rt.o.tree})
}

// identity is the task's context, and the holder in it, by which package resource applies
// the leaf rule. Context makes it. Most step tasks never ask for it.
type identity struct {
	ctx    context.Context
	holder *queue.Holder
}

// eachPlace yields the places of the task's accesses.
func (t *Task) eachPlace(yield func(*queue.Place) bool) {
	for _, a := range t.accesses {
		if !yield(&a.place) { // no other place of the access holds
			return
		}
	}
}

// Context ends when the run does. It stands for the task: a relaxed access with it, or
// with one derived from it, fails if it breaks the leaf rule.
// With any other context such an access may wait for ever. A goroutine that the body
// starts uses the context of Run for its own relaxed accesses.
func (t *Task) Context() context.Context {
	if t.identity.Load() == nil {
		h := queue.NewHolder(fmt.Sprintf("task %q", t.name), t.eachPlace)
		t.identity.CompareAndSwap(nil, &identity{h.Context(t.run.ctx), h})
	}
	return t.identity.Load().ctx
}
