package orwl

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/orwl/go-orwl/internal/invariant"
	"github.com/orwl/go-orwl/orwl/liveness"
)

// start checks the program and makes its plan.
func (rt *Runtime) start(r *run) error {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	r.tell = rt.o.Nodes.fail
	for _, t := range rt.tasks {
		rt.errs = append(rt.errs, t.checkBody()...)
	}
	if len(rt.errs) > 0 {
		return errors.Join(rt.errs...)
	}
	// Each task holds its accesses at once, and they stand in the queues in the order of the tasks. So a program stops only if a task
	// waits for itself: see [liveness.System.Check], which names the circle.
	_, stuck := rt.numberResources(rt.tasks)
	if stuck || invariant.Enabled {
		err := systemOf(rt.tasks).Check()
		invariant.Check(stuck == (err != nil), "a task waits for itself: %t, and the proof says %v", stuck, err)
		if err != nil {
			return err
		}
	}
	// A fault that this node finds itself comes before one that another node has told it.
	if r.ctx.Err() != nil {
		return context.Cause(r.ctx)
	}
	if err := rt.spread(); err != nil {
		return err
	}
	if err := rt.survive(r); err != nil {
		return err
	}
	if rt.o.Nodes.many() {
		if err := rt.agree(r.ctx); err != nil {
			return err
		}
	}
	if rt.o.Nodes.many() {
		if err := rt.settle(r.ctx); err != nil {
			return err
		}
	}
	if r.cuts != nil {
		if err := rt.openFolder(r.ctx); err != nil {
			return err
		}
		restored, err := r.cuts.start(r.ctx)
		if err != nil {
			return err
		}
		if err := rt.restore(r.ctx, r.cuts, restored); err != nil {
			return err
		}
	}
	for _, d := range rt.resources {
		d.settled = true
	}
	if err := rt.seat(); err != nil {
		return err
	}
	r.tasks = slices.Clip(rt.tasks)
	rt.readEnds(r)
	if err := rt.plan(r); err != nil {
		return err
	}
	if r.cuts != nil {
		r.cuts.planned.Store(r.planned)
	}
	r.seats = rt.seats
	for _, t := range r.tasks {
		t.run = r
	}
	rt.run = r
	return nil
}

// systemOf is tasks as far as their liveness goes.
func systemOf(tasks []*Task) liveness.System {
	s := liveness.System{Tasks: make([]liveness.Task, len(tasks))}
	for i, t := range tasks {
		s.Tasks[i].Name = t.name
		for _, a := range t.accesses {
			s.Tasks[i].Accesses = append(s.Tasks[i].Accesses, liveness.Access{Resource: a.resource.Name(), Mode: a.mode})
		}
	}
	return s
}

// checkBody returns what is wrong with the body of a task, if anything.
func (t *Task) checkBody() (errs []error) {
	switch {
	case t.step != nil:
	case t.body == nil:
		errs = append(errs, fmt.Errorf("%w: %q", errBody, t.name))
	case len(t.accesses) > 0:
		errs = append(errs, fmt.Errorf("%w: task %q", errAccesses, t.name))
	}
	return errs
}

// prepare makes an access ready for its first request. number is its number in the task.
func (rt *Runtime) prepare(a *Access, number int) {
	if rt.pages != nil {
		a.place.Call(fmt.Sprintf("%d of task %s", number, a.task.name))
	}
	rt.tell(Event{Kind: Declared, Access: a, Task: a.task})
}

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
