package orwl

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/orwl/go-orwl/orwl/internal/looks"
	"github.com/orwl/go-orwl/orwl/liveness"
	"github.com/orwl/go-orwl/resource"
)

// Runtime is a program of tasks and the resources that they share. First declare them,
// then call Run. Only the order of the tasks matters: it is the order in which a
// sequential program would run them in each round.
//
// Run reports wrong declarations, and then starts nothing. One goroutine declares a
// Runtime, and runs it.
type Runtime struct {
	o Options

	stalls atomic.Uint64
	still  atomic.Bool // nothing has moved since the last stall

	mu        sync.Mutex // guards the fields below
	runs      int        // that have begun
	running   bool
	failed    error // why the last run has failed
	errs      []error
	tasks     []*Task         // of the run that goes on, or has ended; then of the next one
	names     map[string]bool // of tasks
	resources map[string]*resource.Resource
	run       *run
	pages     *resource.FaultPages       // nil: no fault pages
	said      map[string]int             // the homes that were known before the tasks had nodes
	settled   map[string]bool            // resources that a run has used
	requested map[*resource.Resource]int // first requests so far, in a run of several nodes
	homes     map[string]int             // the nodes that keep the resources
	permits   map[string]permit
	relaxed   map[string]bool // resources that Relaxed has declared
	program   []byte          // a digest of it, in a run of several nodes
	seats     seats

	seen     looks.Sightings[*Access] // of accesses, while it runs
	relaxing atomic.Pointer[relaxing] // of a run of several nodes, once it has been started
}

// run is the common state of a runtime's tasks while they run.
type run struct {
	ctx    context.Context
	end    context.CancelCauseFunc // of ctx
	tell   func(error)             // tells the other nodes that it has failed
	failed atomic.Bool             // a task has ended with an error
	tasks  []*Task
	seats  seats // of its step tasks

	planned *planned // nil: its tasks stand in queues
}

// fail ends the run because a task has ended with an error.
func (r *run) fail(t *Task, err error) {
	why := error(&TaskError{t.name, err})
	if other := (*NodeError)(nil); errors.As(err, &other) {
		why = other // the node's loss is the reason, not the task
	}
	t.rt.stop(r, why)
}

// stop ends the run with an error, on all nodes.
func (rt *Runtime) stop(r *run, why error) {
	first := !r.failed.Swap(true)
	r.end(why)
	// The reason may be another one, since the program's context may have ended before.
	// Unless it came from another node, the other nodes do not know it yet.
	if first {
		r.tell(context.Cause(r.ctx))
	}
}

// lost ends the run because of another node.
func (r *run) lost(why error) {
	r.failed.Store(true)
	r.end(why)
}

// why is why the run has failed, or nil if it has not. It has failed a moment before its
// context ends.
func (r *run) why() error {
	if !r.failed.Load() {
		return nil
	}
	<-r.ctx.Done()
	return context.Cause(r.ctx)
}

// New makes a runtime without tasks.
func New(o Options) (*Runtime, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	rt := &Runtime{o: o, names: make(map[string]bool), resources: make(map[string]*resource.Resource), homes: make(map[string]int), permits: make(map[string]permit), settled: make(map[string]bool), requested: make(map[*resource.Resource]int)}
	if err := o.Nodes.take(); err != nil {
		return nil, err
	}
	if o.FaultPages {
		rt.pages = new(resource.FaultPages)
	}
	return rt, nil
}

// Log is the runtime's logger.
func (rt *Runtime) Log() *slog.Logger { return rt.o.Log }

// declare changes the program, unless it runs. what names the change in the error. Run reports the
// error, and declare returns it.
func (rt *Runtime) declare(what string, change func() error) error {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	var err error
	if rt.running {
		err = fmt.Errorf("%w: %s", ErrStarted, what)
	} else {
		rt.turn()
		err = change()
	}
	if err != nil {
		rt.errs = append(rt.errs, err)
	}
	return err
}

// Resource declares a resource of size bytes, a multiple of 8, all zero. Resource names
// are unique.
//
// Run reports a wrong declaration. The resource is broken then: its first Acquire
// returns the same reason.
func (rt *Runtime) Resource(name string, size int) *resource.Resource {
	r, wrong := resource.NewWith(name, size, resource.Options{
		FaultPages: rt.pages, Confirm: rt.o.Confirm,
		Relaxed: resource.RelaxedOptions{Guard: func() (resource.Guard, error) { return rt.makeGuard(name) }, TL: rt.o.TL},
	})
	if wrong != nil {
		r, _ = resource.New(name, 0)
	}
	what := fmt.Sprintf("resource %q", name)
	err := rt.declare(what, func() error {
		if name == "" || rt.resources[name] != nil {
			return fmt.Errorf("%w: %s", ErrName, what)
		}
		rt.resources[name] = r
		return wrong
	})
	if err != nil {
		r.Break(err)
		return r
	}
	rt.tell(Event{Kind: Made, Resource: r, Guard: rt.o.Guard})
	return r
}

// mine returns an error unless this runtime has declared r. Nodes, liveness and homes
// know a resource by its name only, so another one of that name would pass for it. The
// caller holds mu. use says in the error what r is needed for.
func (rt *Runtime) mine(r *resource.Resource, use string) error {
	switch {
	case r == nil:
		return fmt.Errorf("%w: %s", ErrResource, use)
	case rt.resources[r.Name()] != r:
		return fmt.Errorf("%w: %q, %s", ErrForeign, r.Name(), use)
	}
	return nil
}

// declareOf declares a property of r, for example a home or a policy.
func (rt *Runtime) declareOf(r *resource.Resource, what string, change func(name string) error) {
	name := ""
	if r != nil {
		name = r.Name()
	}
	rt.declare(fmt.Sprintf("%s of resource %q", what, name), func() error {
		if err := rt.mine(r, what); err != nil {
			return err
		}
		if rt.settled[name] {
			return fmt.Errorf("%w: %s of resource %q, which a run has used", ErrStarted, what, name)
		}
		return change(name)
	})
}

// Lookup is the resource of that name, or nil.
func (rt *Runtime) Lookup(name string) *resource.Resource {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return rt.resources[name]
}

// Task declares a task of the next run. Its name is unique there.
func (rt *Runtime) Task(name string) *Task {
	t := &Task{rt: rt, name: name}
	what := fmt.Sprintf("task %q", name)
	rt.declare(what, func() error {
		t.of = rt.runs
		if name == "" || rt.names[name] {
			return fmt.Errorf("%w: %s", ErrName, what)
		}
		rt.names[name] = true
		rt.tasks = append(rt.tasks, t)
		return nil
	})
	return t
}

// Close frees the fault pages of all resources. Do not use the resources afterwards.
func (rt *Runtime) Close() error {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	var errs error
	for _, r := range rt.resources {
		errs = errors.Join(errs, r.Close())
	}
	return errs
}

// System is the program as package liveness sees it: tasks, accesses, priorities and
// sequences.
func (rt *Runtime) System() liveness.System {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return systemOf(rt.tasks)
}

func systemOf(tasks []*Task) liveness.System {
	s := liveness.System{Tasks: make([]liveness.Task, len(tasks))}
	for i, t := range tasks {
		s.Tasks[i] = t.described()
	}
	return s
}

// Run runs all tasks and returns when all have ended. First it checks that the program
// cannot deadlock, and makes all first requests in the canonical order. So the tasks
// compute what running them one after another, round by round, would compute.
//
// The error contains each write of this node that may be lost, unless a Flush has
// returned it, as a [*resource.LostWriteError]. It does so even if the task that wrote
// has ended well.
//
// If the body of a task fails, or ctx ends, all other tasks wake and end at their next
// round or Acquire, and Run returns the first error. A grant that comes only from a
// failed task begins no round.
//
// # Stages
//
// A program that does different things one after another declares them one after another. When
// Run has returned, its tasks are over, and the runtime keeps the resources. It takes
// declarations for the next Run: other tasks, which may have the same names, and more resources.
// Each Run is proven alive before it starts:
//
//	for len(left) > 0 {
//		declare(rt, left)
//		if err := rt.Run(ctx); err != nil {
//			return err
//		}
//		...
//	}
//
// On several nodes all nodes declare and run the same stages. Run returns when the tasks of all
// nodes have ended. Between two runs a node may look at resources by [Values], and change them by
// [Fill]. A run that has failed is the last one: each further Run returns its error.
func (rt *Runtime) Run(ctx context.Context) error {
	if err := rt.begin(); err != nil {
		return err
	}
	err := rt.stage(ctx)
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.running, rt.failed = false, err
	return err
}

// begin ends the declarations for a run.
func (rt *Runtime) begin() error {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	switch {
	case rt.running:
		return ErrStarted
	case rt.failed != nil:
		return rt.failed
	}
	rt.turn()
	rt.runs++
	rt.running = true
	return nil
}

// turn forgets the tasks of a run that has ended. rt.mu is held.
func (rt *Runtime) turn() {
	if rt.run == nil || rt.failed != nil {
		return
	}
	for _, t := range rt.run.tasks {
		if t.here() {
			rt.tell(Event{Kind: Forgotten, Task: t})
		}
	}
	rt.run, rt.tasks, rt.errs = nil, nil, nil
	clear(rt.names)
}

// stage is one run.
func (rt *Runtime) stage(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := &run{ctx: ctx, end: cancel}
	n := rt.o.Nodes
	if n.many() {
		n.begin(r.lost, rt.o.AtLoss)
	}
	if err := rt.start(r); err != nil {
		n.fail(err)
		return err
	}
	stop := rt.watch()
	rt.live(r)
	stop()
	err := rt.tooLate()
	if why := r.why(); err == nil {
		err = why
	} else if why != nil {
		err = errors.Join(why, err)
	}
	if n.many() {
		return rt.leave(ctx, err)
	}
	return err
}

// live runs the tasks of a run on this node to their end.
func (rt *Runtime) live(r *run) {
	var all sync.WaitGroup
	for _, t := range r.tasks {
		if t.here() && t.step == nil {
			all.Go(t.live)
		}
	}
	all.Go(func() { rt.steps(r) })
	all.Wait()
}

// tooLate returns the errors of declarations that came while the tasks ran.
func (rt *Runtime) tooLate() error {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return errors.Join(rt.errs...)
}
