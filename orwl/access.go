package orwl

import (
	"context"
	"errors"
	"fmt"

	"github.com/orwl/go-orwl/handle"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/internal/typed"
)

// Access is what a task does with a resource in each round: see [Reads] and [Writes].
//
// The runtime makes its first request when it starts. The loop of [Task.rounds] acquires and releases all accesses of a task.
// A body with a goroutine may also take and release one access after another. When the body has ended, the runtime ends the
// accesses that are left.
type Access struct {
	place    queue.Place
	memo     typed.Memo
	task     *Task
	resource *queue.Resource
	mode     queue.Mode
	priority int32
	number   int32 // in its task
}

// prioritize gives the access's first request another position in the start order: lower
// is earlier, and all others have 0. Another order than the canonical one may deadlock;
// [Runtime.Run] finds that out beforehand.
func (a *Access) prioritize(p int) *Access {
	a.task.declare("a priority", func() error {
		if p != int(int32(p)) {
			return fmt.Errorf("%w: %d, of task %q: want a number of 32 bits", errPriority, p, a.task.name)
		}
		a.priority = int32(p)
		return nil
	})
	return a
}

// take waits for the access, in the body of a task with a goroutine. It returns an error, and the task does not hold the
// resource, in these cases:
//
//   - The run has ended, so the grant may be due to a task that ended with it. The error is
//     the reason of the end.
//   - The task is inside a relaxed access: an error, without waiting.
func (a *Access) take(ctx context.Context) error {
	t := a.task
	if t.run == nil || t.ended.Load() {
		return a.place.Acquire(ctx)
	}
	if t.run.ctx.Err() != nil {
		return a.ended()
	}
	if id := t.identity.Load(); id != nil && id.holder.Inside() {
		ctx = id.holder.Context(ctx) // the caller's context may not be the task's
	}
	if err := a.acquire(ctx); err != nil {
		return err
	}
	// A task that fails ends the run before it releases anything. So a grant that is
	// due to its failure finds the run ended here.
	if t.run.ctx.Err() != nil {
		return errors.Join(a.ended(), a.release())
	}
	return nil
}

// ended is the error of an access whose run has ended.
func (a *Access) ended() error {
	return a.failed("acquire", context.Cause(a.task.run.ctx))
}

// read is the resource's bytes as elements of type T, while the task holds it. On
// misuse it ends the task with the error that [handle.Read] returns.
func read[T any](a *Access) handle.View[T] {
	a.task.own(a)
	v, err := typed.Read[T](&a.place, &a.memo)
	if err != nil {
		panic(misuse{err})
	}
	return handle.View[T](v)
}

// write is the resource's bytes as elements of type T, to change while the task holds
// it. On misuse it ends the task with the error that [handle.Write] returns.
func write[T any](a *Access) []T {
	a.task.own(a)
	s, err := typed.Write[T](&a.place, &a.memo)
	if err != nil {
		panic(misuse{err})
	}
	return s
}
