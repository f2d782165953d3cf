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
