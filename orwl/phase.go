package orwl

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/orwl/go-orwl/resource"
)

// Phase is tasks and resources that join a run while it goes on: see [Runtime.Phase].
type Phase struct {
	rt *Runtime

	// The runtime's mu guards these.
	declared  bool // it cannot change any more
	errs      []error
	tasks     []*Task
	names     map[string]bool
	resources map[string]*resource.Resource
}

// The errors of a phase that cannot join a run. A phase whose tasks would deadlock is a
// [*liveness.DeadlockError], and one that cannot be proven alive beside the tasks that run
// is a [*liveness.JoinError].
var (
	// ErrNotRunning: the runtime does not run, or its tasks have ended.
	ErrNotRunning = errors.New("orwl: no run goes on that a phase could join: call Phase from a task, or while Run runs")
	// ErrPhaseNodes: the run has several nodes.
	ErrPhaseNodes = errors.New("orwl: a phase cannot join a run on several nodes yet: declare its tasks before Run")
	// ErrPhaseOver: a declaration came after declare had returned.
	ErrPhaseOver = errors.New("orwl: the phase has been declared: declare its resources, tasks and accesses in the function that Phase calls")
)

// Phase adds tasks and resources to a run that goes on, and returns when these tasks have
// ended. declare declares them, as before Run:
//
//	err := rt.Phase(ctx, func(p *orwl.Phase) {
//		sums := p.Resource("sums", 64)
//		t := p.Task("sum")
//		...
//	})
//
// The phase is proven alive before it joins, or nothing of it does. Its first requests are
// made in the canonical order, behind those that are in the queues. So its tasks compute
// what running them one after another, round by round, would compute.
//
// A phase may use its own resources and those that no running task uses, in any way. It may
// read what the running tasks only read. Besides, it may share a little with them: of the
// tasks of the phase that may wait for each other, one may have one access that conflicts
// with theirs. It may write there only if at most one of their accesses reads the resource.
// Then both are alive in every schedule: see [liveness.System.Joins]. All else is refused with
// a [*liveness.JoinError], because the requests of a phase cannot come between two rounds of
// all running tasks at once. What a shared access sees depends on the moment at which the
// phase joins.
//
// A task may call Phase with its own context, and waits for the end of the phase. Then the
// phase shares nothing with running tasks but what all of them read. With another context
// such a phase may wait for ever.
//
// The error is the first one of a task of the phase. It ends the phase, and not the run. If
// ctx or the run ends, the phase ends too, and Run waits for that. When the phase has ended,
// its resources stay, and their names are taken. The names of its tasks are free again.
func (rt *Runtime) Phase(ctx context.Context, declare func(p *Phase)) error {
	p := &Phase{rt: rt, names: make(map[string]bool), resources: make(map[string]*resource.Resource)}
	declare(p)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := &run{ctx: ctx, end: cancel}
	whole, err := rt.admit(p, r)
	if err != nil {
		return err
	}
	defer whole.phases.Done()
	stop := context.AfterFunc(whole.ctx, func() { cancel(context.Cause(whole.ctx)) })
	defer stop()
	rt.live(r)
	err = rt.dismiss(p)
	if r.failed.Load() {
		err = errors.Join(context.Cause(ctx), err)
	}
	return err
}

// Resource declares a resource of the phase: see [Runtime.Resource].
func (p *Phase) Resource(name string, size int) *resource.Resource {
	return p.rt.newResource(name, size, p.declare, p.resources)
}

// Task declares a task of the phase. No other running task has its name.
func (p *Phase) Task(name string) *Task {
	t := &Task{rt: p.rt, phase: p, name: name}
	what := fmt.Sprintf("task %q", name)
	p.declare(what, func() error {
		if name == "" || p.names[name] {
			return fmt.Errorf("%w: %s", ErrName, what)
		}
		p.names[name] = true
		p.tasks = append(p.tasks, t)
		return nil
	})
	return t
}

// declare changes the phase, unless it has been declared.
func (p *Phase) declare(what string, change func() error) error {
	p.rt.mu.Lock()
	defer p.rt.mu.Unlock()
	err := fmt.Errorf("%w: %s", ErrPhaseOver, what)
	if !p.declared {
		err = change()
	}
	if err != nil {
		p.errs = append(p.errs, err)
	}
	return err
}

// declare changes the program or the phase that has declared the task.
func (t *Task) declare(what string, change func() error) error {
	if t.phase != nil {
		return t.phase.declare(what, change)
	}
	return t.rt.declare(what, change)
}

// mine is [Runtime.mine] for a resource that the task uses. It may be one of its phase.
func (t *Task) mine(r *resource.Resource, use string) error {
	if t.phase != nil && r != nil && t.phase.resources[r.Name()] == r {
		return nil
	}
	return t.rt.mine(r, use)
}

// admit lets a phase join the run that goes on, as r, or returns why it cannot join. The
// caller calls Done of the whole run's phases in the end.
func (rt *Runtime) admit(p *Phase, r *run) (whole *run, err error) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	p.declared = true
	if whole = rt.run; whole == nil || whole.over {
		return nil, ErrNotRunning
	}
	for _, t := range p.tasks {
		p.errs = append(p.errs, t.checkBody()...)
	}
	if err := errors.Join(append(p.errs, p.clashes())...); err != nil {
		return nil, err
	}
	if r.ctx.Err() != nil {
		return nil, context.Cause(r.ctx)
	}
	_, waited := r.ctx.Value(taskKey{}).(*Task)
	s := systemOf(p.tasks)
	if err := s.Joins(systemOf(rt.running()), waited); err != nil {
		return nil, err
	}
	if err := rt.join(p); err != nil {
		return nil, err
	}
	if r.seats, err = rt.seatsFor(p.tasks); err != nil {
		return nil, err
	}
	if err := rt.request(p.tasks, s); err != nil {
		return nil, err
	}
	r.tasks = p.tasks
	for _, t := range p.tasks {
		t.run = r
		rt.names[t.name] = true
	}
	maps.Copy(rt.resources, p.resources)
	rt.tasks = slices.Concat(rt.tasks, p.tasks) // others may read the old slice
	whole.phases.Add(1)
	return whole, nil
}

// join is the part of a phase that concerns the other nodes. All nodes would agree on the
// system of the phase and on its place among other phases, declare its homes and mirrors,
// and reserve its first requests at the homes, before one of them makes the first.
func (rt *Runtime) join(*Phase) error {
	if rt.o.Nodes.many() {
		return ErrPhaseNodes
	}
	return nil
}

// clashes returns an error if a name is taken. It is asked when the phase joins, since another
// phase may have joined after the declaration.
func (p *Phase) clashes() error {
	var errs []error
	for _, t := range p.tasks {
		if p.rt.names[t.name] {
			errs = append(errs, fmt.Errorf("%w: task %q", ErrName, t.name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.resources)) {
		if p.rt.resources[name] != nil {
			errs = append(errs, fmt.Errorf("%w: resource %q", ErrName, name))
		}
	}
	return errors.Join(errs...)
}

// running are the tasks that have not ended.
func (rt *Runtime) running() []*Task {
	return slices.DeleteFunc(slices.Clone(rt.tasks), func(t *Task) bool { return t.ended.Load() })
}

// dismiss forgets the tasks of a phase that have ended. It returns the errors of
// declarations that came too late.
func (rt *Runtime) dismiss(p *Phase) error {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.tasks = slices.DeleteFunc(slices.Clone(rt.tasks), func(t *Task) bool { return t.phase == p })
	for _, t := range p.tasks {
		delete(rt.names, t.name)
	}
	rt.seen.forget(p.tasks)
	return errors.Join(p.errs...)
}

// forget forgets the accesses of tasks that have ended. This is a change of the program.
func (s *sightings) forget(tasks []*Task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range tasks {
		for _, a := range t.accesses {
			delete(s.seen, a)
		}
	}
	s.moved = time.Now()
}

// close ends a run whose tasks have ended: no phase joins it any more, and those that have
// joined end first.
func (rt *Runtime) close(r *run) {
	rt.mu.Lock()
	r.over = true
	rt.mu.Unlock()
	r.phases.Wait()
}
