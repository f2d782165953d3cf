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

// finish waits until every node's tasks have ended, since others may need what is
// kept here until then, and returns the failure of the run: one's own, or the first
// other node's.
func (rt *Runtime) finish(ctx context.Context, err error) error {
	n := rt.o.Nodes
	var mine []byte
	if err != nil {
		mine = n.failureOf(err).encode()
	}
	all, gathered := rt.gather(context.WithoutCancel(ctx), "end", mine)
	if err == nil && gathered == nil {
		err = rt.outcome(all)
	} else if err == nil {
		err = gathered
	}
	if why := n.fate.Why(); err != nil && why != nil && mine == nil {
		err = why // it came first
	}
	if gathered != nil {
		n.tell(err) // before they hear that this node has left
	}
	return err
}

// outcome is the failure of the first node that has one, by what all have said in the end. All that were
// not lost have said something.
func (rt *Runtime) outcome(all [][]byte) error {
	for node, failure := range all {
		switch {
		case failure == nil && rt.o.AtLoss == EndRun:
			return &NodeError{Node: node, Lost: true, Text: "it was lost before the run ended"}
		case len(failure) == 0:
			continue
		}
		e, err := parseFailure(failure, len(all))
		if err != nil {
			return err
		}
		return e
	}
	return nil
}
