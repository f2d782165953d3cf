package orwl

import (
	"context"
	"errors"
)

// flushAll returns nil when the homes have committed every write that handles of this node have released. It waits for no
// grant. A write that may be lost is an error that matches [resource.ErrLost] and names the resource; flushAll returns each
// once. If ctx ends first, flushAll returns why, names the resources that are left, and may be called again. Run flushes in the
// end, and returns what flushAll has not.
func (rt *Runtime) flushAll(ctx context.Context) error {
	if !rt.o.Nodes.many() {
		return nil
	}
	return rt.o.Nodes.site.Flush(ctx)
}

// leave ends a run on several nodes. The homes are there until all nodes have ended, so it
// flushes first. All nodes of a life meet behind it, so one whose run has failed need not wait here, and the others
// wait only as long as nothing has ended their run.
func (rt *Runtime) leave(ctx context.Context, r *run, err error) error {
	lost := rt.flushAll(context.WithoutCancel(ctx))
	switch {
	case rt.o.Nodes.survival == nil:
		err = rt.finish(context.WithoutCancel(ctx), err)
	case err == nil:
		err = rt.finishLife(ctx, r)
	}
	if lost != nil {
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
	all, gathered := rt.gather(ctx, "end", mine)
	if err == nil && gathered == nil {
		err = rt.outcome(all)
	} else if err == nil {
		err = gathered
	}
	if why := n.reason.Why(); err != nil && why != nil && mine == nil {
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
		case failure == nil:
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
