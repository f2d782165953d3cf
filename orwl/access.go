package orwl

import (
	"context"
	"errors"
	"fmt"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/resource"
)

// Access is what a task has declared to do with a resource in each round: a pair of
// handles. The runtime makes its first request at the start.
//
// [Task.Rounds] acquires and releases the accesses of a task. A body can also do so one
// by one, with the methods of the pair. The runtime takes back what the body leaves
// behind.
type Access struct {
	handle.Pair
	task     *Task
	resource *resource.Resource
	mode     resource.Mode
	priority int
}

// Priority gives the access's first request another position in the start order: lower
// is earlier, and all others have 0. Another order than the canonical one may deadlock;
// [Runtime.Run] finds that out beforehand.
func (a *Access) Priority(p int) *Access {
	a.task.rt.declare(fmt.Sprintf("a priority of task %q", a.task.name), func() error {
		a.priority = p
		return nil
	})
	return a
}

// Acquire waits for the access, like the pair's Acquire. After the end of the run it
// returns the reason, and the task does not hold the resource, granted or not: the
// grant may be due to tasks that ended with the run. Inside a relaxed access of the
// task it does not wait, and returns [resource.ErrLeafRule].
func (a *Access) Acquire(ctx context.Context) error {
	t := a.task
	if t.run == nil || t.ended.Load() {
		return a.Pair.Acquire(ctx)
	}
	if t.run.ctx.Err() != nil {
		return a.ended()
	}
	if t.holder.Inside() {
		ctx = t.holder.Context(ctx) // ctx may be another context than the task's
	}
	if err := a.Pair.Acquire(ctx); err != nil {
		return err
	}
	// A task that fails ends the run before it releases anything. So a grant that is
	// due to its failure finds the run ended here.
	if t.run.ctx.Err() != nil {
		return errors.Join(a.ended(), a.End())
	}
	return nil
}

// ended is the error of an access whose run has ended.
func (a *Access) ended() error {
	return &resource.PlaceError{Op: "acquire", Mode: a.mode, Resource: a.resource.Name(), Err: context.Cause(a.task.run.ctx)}
}

// Task is the task of the access.
func (a *Access) Task() *Task { return a.task }

// Resource is the resource of the access.
func (a *Access) Resource() *resource.Resource { return a.resource }

// Mode is the requested access mode.
func (a *Access) Mode() resource.Mode { return a.mode }

// Read is the resource's bytes as elements of type T, while the task holds it. On
// misuse it ends the task with the error that [handle.Read] returns.
func Read[T any](a *Access) handle.View[T] {
	v, err := handle.Read[T](a)
	if err != nil {
		panic(misuse{err})
	}
	return v
}

// Write is the resource's bytes as elements of type T, to change while the task holds
// it. On misuse it ends the task with the error that [handle.Write] returns.
func Write[T any](a *Access) []T {
	s, err := handle.Write[T](a)
	if err != nil {
		panic(misuse{err})
	}
	return s
}
