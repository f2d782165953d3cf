package orwl

import (
	"context"
	"errors"
	"fmt"

	"github.com/orwl/go-orwl/orwl/liveness"
	"github.com/orwl/go-orwl/resource"
)

// start checks the program and makes the first requests.
func (rt *Runtime) start(r *run) error {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if rt.started {
		return errors.Join(append([]error{ErrStarted}, rt.errs...)...)
	}
	rt.started = true
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
	if err := rt.beginners(); err != nil {
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
	if err := rt.meet(); err != nil {
		return err
	}
	if rt.o.Nodes.many() {
		if rt.o.Nodes.fate.Late() {
			return rt.startLate(r)
		}
		if err := rt.agree(r.ctx); err != nil {
			return err
		}
	}
	if err := rt.relax(r.ctx); err != nil {
		return err
	}
	order := s.Order()
	var number map[*resource.Resource]int
	if rt.o.Nodes.many() {
		number = make(map[*resource.Resource]int, len(rt.resources))
		if err := rt.settle(order); err != nil {
			return err
		}
	}
	if err := rt.seat(); err != nil {
		return err
	}
	r.tasks, r.seats = rt.tasks, rt.seats
	if err := rt.request(rt.tasks, order, number); err != nil {
		return err
	}
	for _, t := range rt.tasks {
		t.run = r
	}
	rt.run = r
	rt.o.Nodes.letIn()
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

// request makes the first requests of tasks in their order. If one fails, it takes all back.
// number counts the first requests of each resource, with those of earlier phases. On one node
// it is not used, since no home reserves tickets there.
func (rt *Runtime) request(tasks []*Task, order []liveness.First, number map[*resource.Resource]int) error {
	many := rt.o.Nodes.many()
	for _, first := range order {
		a := tasks[first.Task].accesses[first.Access]
		if many {
			number[a.resource]++
		}
		if !a.task.here() {
			continue
		}
		var err error
		if first.Round == 0 {
			err = rt.prepare(a, first.Access+1)
		}
		switch {
		case err != nil:
		case many:
			err = a.RequestOrdered(a.resource, a.mode, number[a.resource])
		default:
			err = a.Request(a.resource, a.mode)
		}
		if err != nil {
			for _, t := range tasks {
				_ = t.Accesses().Cancel()
			}
			return fmt.Errorf("orwl: first request of task %q: %w", a.task.name, err)
		}
	}
	return nil
}

// prepare makes an access ready for its first requests. number is its number in the task.
func (rt *Runtime) prepare(a *Access, number int) error {
	if k := int(a.ahead); k != a.Depth() {
		if err := a.Pair.Ahead(k); err != nil {
			return err
		}
	}
	a.Prepare(func() {
		if rt.pages != nil {
			a.Place().Call(fmt.Sprintf("%d of task %s", number, a.task.name))
		}
		rt.tell(Event{Kind: Declared, Access: a, Task: a.task})
	})
	return nil
}
