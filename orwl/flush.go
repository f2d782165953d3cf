package orwl

import (
	"context"
	"errors"
)

// Flush returns nil when the homes have committed every write that the task has released
// through its accesses. It waits for no grant. A write that may be lost is a
// [*resource.LostWriteError], which names the resource. If ctx ends first, Flush returns
// why, names the resources that are left, and may be called again.
//
// Handles of the body's own have a Flush of their own: see [handle.Handle.Flush].
func (t *Task) Flush(ctx context.Context) error { return t.Accesses().Flush(ctx) }

// Flush is [Task.Flush] of everything that was written on this node. It returns each lost
// write once. Run flushes in the end, and returns what Flush has not.
func (rt *Runtime) Flush(ctx context.Context) error {
	if !rt.o.Nodes.many() {
		return nil
	}
	return rt.o.Nodes.site.Flush(ctx)
}

// leave ends a run on several nodes. The homes are there until all nodes have ended, so it
// flushes first.
func (rt *Runtime) leave(ctx context.Context, err error) error {
	lost := rt.Flush(context.WithoutCancel(ctx))
	if err = rt.finish(ctx, err); lost != nil {
		err = errors.Join(err, lost)
	}
	return err
}
