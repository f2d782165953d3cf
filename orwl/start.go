package orwl

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	s := systemOf(rt.tasks)
	if err := s.Check(); err != nil {
		return err
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
	for name := range rt.resources {
		rt.settled[name] = true
	}
	if err := rt.seat(); err != nil {
		return err
	}
	r.tasks = slices.Clip(rt.tasks)
	rt.readEnds(r)
	for _, t := range r.tasks[len(rt.tasks):] {
		s.Tasks = append(s.Tasks, t.described())
	}
	if err := rt.plan(r, s); err != nil {
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
