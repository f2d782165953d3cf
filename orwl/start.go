package orwl

import (
	"context"
	"errors"
	"fmt"

	"github.com/orwl/go-orwl/orwl/liveness"
)

// start checks the program and makes the first requests.
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
	// What this node finds wrong by itself comes before what another one has told it.
	if r.ctx.Err() != nil {
		return context.Cause(r.ctx)
	}
	if err := rt.spread(); err != nil {
		return err
	}
	if err := rt.permitted(); err != nil {
		return err
	}
	if rt.o.Nodes.many() {
		if err := rt.agree(r.ctx); err != nil {
			return err
		}
	}
	if err := rt.relax(r.ctx); err != nil {
		return err
	}
	order := s.Order()
	if rt.o.Nodes.many() {
		if err := rt.settle(r.ctx, order); err != nil {
			return err
		}
	}
	for name := range rt.resources {
		rt.settled[name] = true
	}
	if err := rt.seat(); err != nil {
		return err
	}
	if rt.plannable() {
		err := rt.plan(r, s, order)
		if err != nil {
			return err
		}
	} else if err := rt.request(order); err != nil {
		return err
	}
	r.tasks, r.seats = rt.tasks, rt.seats
	for _, t := range rt.tasks {
		t.run = r
	}
	rt.run = r
	return nil
}

// checkBody returns what is wrong with the body of a task, if anything.
func (t *Task) checkBody() (errs []error) {
	if t.body == nil && t.step == nil {
		errs = append(errs, fmt.Errorf("%w: %q", ErrBody, t.name))
	}
	if t.step != nil {
		if err := t.holdsAll("Each"); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// request makes the first requests of the tasks in their order. If one fails, it takes all back. On one
// node no home reserves tickets, so it does not count.
func (rt *Runtime) request(order []liveness.First) error {
	many := rt.o.Nodes.many()
	for _, first := range order {
		a := rt.tasks[first.Task].accesses[first.Access]
		if many {
			rt.requested[a.resource]++
		}
		if !a.task.here() {
			continue
		}
		rt.prepare(a, first.Access+1)
		var err error
		if many {
			err = a.RequestOrdered(a.resource, a.mode, rt.requested[a.resource])
		} else {
			err = a.Request(a.resource, a.mode)
		}
		if err != nil {
			for _, t := range rt.tasks {
				_ = t.Accesses().Cancel()
			}
			return fmt.Errorf("orwl: first request of task %q: %w", a.task.name, err)
		}
	}
	return nil
}

// prepare makes an access ready for its first request. number is its number in the task.
func (rt *Runtime) prepare(a *Access, number int) {
	if rt.pages != nil {
		a.Place().Call(fmt.Sprintf("%d of task %s", number, a.task.name))
	}
	rt.tell(Event{Kind: Declared, Access: a, Task: a.task})
}
