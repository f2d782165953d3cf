package orwl

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl/internal/looks"
	"github.com/orwl/go-orwl/orwl/internal/plan"
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
	still  atomic.Bool  // nothing has moved since the last stall
	starts atomic.Int64 // since when it waits for other nodes to begin the run, in nanoseconds; 0: it does not

	mu         sync.Mutex // guards the fields below
	runs       int        // how many runs have begun
	running    bool
	failed     error // why the last run has failed
	errs       []error
	tasks      []*Task             // of the run that goes on, or has ended; then of the next one
	names      map[string]struct{} // of the tasks that are declared for the next run
	resources  map[string]*declared
	run        *run
	unwatch    func()               // ends the live page
	flight     func(why string)     // has the flight recorder write what the tasks did last
	pages      *queue.FaultPages    // nil: no fault pages
	relaxed    queue.RelaxedOptions // of each resource
	said       map[string]int       // the homes that were known before the tasks had nodes
	homes      map[string]int       // the nodes that keep the resources
	seats      seats
	reductions []*reduction  // of the next run
	until      []declaredEnd // of the next run, or of the one that goes on
	grids      []grid
	taken      uint64 // how often workers have taken tasks from each other, in the runs before

	bodies sync.Map                 // of goroutines that run bodies now: *Task or **step
	seen   looks.Sightings[*Access] // of accesses, while it runs
}

// grid says how far a grid of package stencil is.
type grid struct {
	name     string
	progress func() (done, total int64)
}

// run is the common state of a runtime's tasks while they run.
type run struct {
	ctx    context.Context
	end    context.CancelCauseFunc // of ctx
	tell   func(error)             // tells the other nodes that it has failed
	failed atomic.Bool             // a task has ended with an error
	tasks  []*Task                 // the program's tasks, and then the tasks that read the end
	seats  seats                   // of its step tasks

	planned *planned
	cuts    *cuts              // nil: the run does not survive the loss of a node
	ahead   map[int]plan.Ahead // by node: how far ahead a task may be of the one that reads the end
	last    atomic.Int64       // all tasks end after so many rounds; 0: that is not known
}

// fail ends the run because a task has ended with an error.
func (r *run) fail(t *Task, err error) {
	why := error(&taskError{t.name, err})
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
	rt := &Runtime{o: o, names: make(map[string]struct{}), resources: make(map[string]*declared), homes: make(map[string]int)}
	rt.relaxed.Guard = rt.makeGuard
	if err := o.Nodes.take(rt); err != nil {
		return nil, err
	}
	if o.FaultPages {
		rt.pages = new(queue.FaultPages)
	}
	rt.flies()
	rt.unwatch = rt.watched()
	return rt, nil
}

// declare changes the program, unless it runs. what and name say in the error what is changed. Run reports the error, and
// declare returns it.
func (rt *Runtime) declare(what, name string, change func() error) error {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	var err error
	if rt.running {
		err = fmt.Errorf("%w: %s %q", errStarted, what, name)
	} else {
		rt.turn()
		err = change()
	}
	if err != nil {
		rt.errs = append(rt.errs, err)
	}
	return err
}

// Task declares a task of the next run. Its name is unique there.
func (rt *Runtime) Task(name string) *Task {
	t := &Task{rt: rt, name: name}
	rt.declare("task", name, func() error {
		t.of = int32(rt.runs)
		if _, taken := rt.names[name]; taken || name == "" {
			return fmt.Errorf("%w: task %q", errName, name)
		}
		rt.names[name] = struct{}{}
		rt.tasks = append(rt.tasks, t)
		return nil
	})
	return t
}

// Close frees the fault pages of all resources, and ends the live page. Do not use the resources afterwards.
func (rt *Runtime) Close() error {
	rt.unwatch()
	rt.mu.Lock()
	defer rt.mu.Unlock()
	var errs error
	for _, r := range rt.resources {
		errs = errors.Join(errs, r.Close())
	}
	return errs
}

// Run runs all tasks and returns when all have ended. First it checks that the program
// cannot deadlock, and makes all first requests in the canonical order. So the tasks
// compute what running them one after another, round by round, would compute.
//
// The error contains each write of this node that may be lost, unless a Flush has
// returned it, as an error that matches [resource.ErrLost]. It does so even if the task that wrote
// has ended well.
//
// If the body of a task fails, or ctx ends, all other tasks wake and end at their next
// round, and Run returns the first error. A grant that comes only from a
// failed task begins no round.
//
// A run has the resources of its tasks for itself, from its start to its end: what their queues would do is
// known, and comparing round numbers takes their place. A handle from outside waits for the end of the run.
// Inside of a body it is an error instead of a wait for ever, if the body waits
// with the task's context.
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
//
// After the loss of a node, [Run] calls the program again. Each Run then begins from its own last cut. One that had ended goes to its end at once: it
// gives the resources what they held then.
func (rt *Runtime) Run(ctx context.Context) error {
	rt.reduce()
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
		return errStarted
	case rt.failed != nil:
		return rt.failed
	}
	rt.turn()
	rt.names = make(map[string]struct{})
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
	if p := rt.run.planned; p != nil && len(p.workers) > 0 {
		rt.taken += p.pool.Taken()
	}
	rt.run, rt.tasks, rt.errs, rt.grids = nil, nil, nil, nil
}

// stage is one run.
func (rt *Runtime) stage(ctx context.Context) error {
	outside := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := &run{ctx: ctx, end: cancel}
	n := rt.o.Nodes
	if n != nil {
		n.reason.Begin(r.lost)
	}
	if n.many() {
		rt.starts.Store(time.Now().UnixNano())
	}
	defer func() { // also of a run that does not start
		r.cuts.stop()
		n.cutsEnd()
		r.planned.give() // neither a cut nor another node uses a copy any more
	}()
	err := rt.start(r)
	rt.starts.Store(0)
	if err != nil {
		n.fail(err)
		return err
	}
	stop := rt.watch()
	rt.runPlan(r)
	stop()
	err = rt.tooLate()
	if why := r.why(); err == nil {
		err = why
	} else if why != nil {
		err = errors.Join(why, err)
	}
	if err != nil && outside.Err() == nil && !errors.Is(err, errLifeOver) {
		rt.flight("error")
	}
	switch {
	case n.many():
		err = rt.leave(ctx, r, err)
	case err == nil && r.cuts != nil:
		err = r.cuts.ends(ctx, [][]byte{r.cuts.finish(ctx)})
	}
	return err
}

// tooLate returns the errors of declarations that came while the tasks ran.
func (rt *Runtime) tooLate() error {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return errors.Join(rt.errs...)
}
