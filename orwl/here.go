package orwl

import (
	"fmt"

	"github.com/orwl/go-orwl/orwl/internal/goroutine"
)

// A view does not say which task asks for it. So a body could write by the access of another task, while that one
// holds it, and no error would tell. But each body runs on a goroutine that the runtime has started:
//
//	Task.by         the goroutine that runs the task's body now
//	Runtime.bodies  the task whose body a goroutine runs now
//
// Right use compares the first with the caller, which takes about a nanosecond. Only if they differ, the second
// tells which body the caller runs. A goroutine that a body has started runs no body, and may use what the body
// uses.

// enter notes that the calling goroutine runs the body of the task, until the function that it returns is called.
func (t *Task) enter() (leave func()) {
	t.by.Set(goroutine.Number())
	none := t.rt.enter(t)
	return func() {
		none()
		t.by.Set(0)
	}
}

// enter notes whose bodies the calling goroutine runs: a *Task, or a **step for the step that it runs at the time.
func (rt *Runtime) enter(whose any) (leave func()) {
	g := goroutine.Number()
	if g == 0 {
		return func() {} // this processor does not tell
	}
	rt.bodies.Store(g, whose)
	return func() { rt.bodies.Delete(g) }
}

// call calls the body of a step.
func (s *step) call() error {
	s.task.by.Set(goroutine.Number())
	err := s.body(s.round)
	s.task.by.Set(0)
	return err
}

// own ends the task whose body calls it, unless that is t. a is the access of t that is used, nil for the task itself.
func (t *Task) own(a *Access) {
	if t.by.Load() != goroutine.Number() {
		t.foreign(a)
	}
}

// foreign is own for a caller that is not the goroutine of t's body.
func (t *Task) foreign(a *Access) {
	switch caller := t.rt.caller(); {
	case caller == nil || caller == t:
	case a == nil:
		panic(misuse{fmt.Errorf("%w: Last of task %q in task %q", errOtherTask, t.name, caller.name)})
	default:
		panic(misuse{fmt.Errorf("%w: the access of task %q to %s %q, used by task %q", errOtherTask, t.name, a.mode, a.resource.Name(), caller.name)})
	}
}

// caller is the task whose body the calling goroutine runs, or nil.
func (rt *Runtime) caller() *Task {
	whose, _ := rt.bodies.Load(goroutine.Number())
	switch whose := whose.(type) {
	case *Task:
		return whose
	case **step:
		if *whose != nil {
			return (*whose).task
		}
	}
	return nil
}
