package orwl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/orwl/go-orwl/orwl/internal/meeting"
	"github.com/orwl/go-orwl/orwl/internal/message"
	"github.com/orwl/go-orwl/orwl/internal/spread"
	"github.com/orwl/go-orwl/orwl/liveness"
	"github.com/orwl/go-orwl/resource"
)

// Phase is tasks and resources that join a run while it goes on: see [Runtime.Phase].
type Phase struct {
	rt   *Runtime
	run  *run
	call *meeting.Call // all nodes give it the same number

	// The runtime's mu guards these.
	declared  bool // it cannot change any more
	errs      []error
	tasks     []*Task
	names     map[string]bool
	resources map[string]*resource.Resource

	// These belong to the goroutine that has called Phase.
	wrong    error // what is wrong with the declarations of this node
	system   liveness.System
	program  *spread.Program
	homes    map[string]int // of all resources, the phase's included
	batches  []batch        // that ran when this node proposed the phase
	reserved []reservation
	orders   map[*resource.Resource]int // first requests of earlier phases
}

// The errors of a phase that cannot join a run. A phase whose tasks would deadlock is a
// [*liveness.DeadlockError], and one that cannot be proven alive beside the tasks that run
// is a [*liveness.JoinError]. A [*NodeError] says that another node refuses: its context
// has ended, its declarations are wrong, or it is lost.
var (
	// ErrNotRunning: the runtime does not run, or its tasks have ended, here or on another
	// node.
	ErrNotRunning = errors.New("orwl: no run goes on that a phase could join: call Phase from a task, or while Run runs")
	// ErrPhaseDiffers: the nodes have called different phases.
	ErrPhaseDiffers = errors.New("orwl: nodes have called different phases: call the same phases in the same order on every node, and declare the same in each")
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
// its resources stay, and their names are taken. The names of its tasks are free again. A
// phase that is refused adds nothing, and its resources are broken.
//
// # Several nodes
//
// Every node calls the same phases, in the same order, and declares the same in each. Phase
// waits until all have called it. Then all nodes let it join, or all refuse it. It ends on all
// nodes together: when it returns, the tasks of all nodes have ended. A failure on one node,
// or the end of its context, ends the phase on all; the others return a [*NodeError].
//
// If ctx ends while some node has not called the phase, this node takes its call back and
// returns why. It may call again. If the others come at this very moment, they may be told: a
// [*NodeError] that names this node. Calls that do not match are refused on all nodes, with
// [ErrPhaseDiffers]. This includes two phases that two nodes call at once, in another order.
//
// A node whose tasks have ended calls no phase any more, and every node refuses the next one
// with [ErrNotRunning]. So every node needs a task that runs until the last phase, for
// example the task that calls Phase. A task keeps what it holds while it waits for others to
// call: they must not need it to come that far.
//
// The loss of a node ends the run, and with it the phase. With [GoOn] a phase needs only the
// nodes on which it has tasks or resources of its own. If one of them is lost while the nodes
// agree, all others refuse the phase. If it is lost later, it is as for any task. Any node may be
// lost, node 0, too.
//
// Tasks that do not say [Task.On] go to the nodes that have called the phase: a phase needs no node that is
// lost, and late nodes get tasks of it.
func (rt *Runtime) Phase(ctx context.Context, declare func(p *Phase)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p := rt.newPhase(&run{ctx: ctx, end: cancel})
	declare(p)
	whole, err := rt.admit(p)
	if err != nil {
		p.refuse(err)
		return err
	}
	defer whole.phases.Done()
	stop := context.AfterFunc(whole.ctx, func() { cancel(context.Cause(whole.ctx)) })
	defer stop()
	if err := p.join(whole); err != nil {
		p.refuse(err)
		return err
	}
	return p.finish()
}

func (rt *Runtime) newPhase(r *run) *Phase {
	p := &Phase{rt: rt, run: r, names: make(map[string]bool), resources: make(map[string]*resource.Resource)}
	p.call = meeting.NewCall(func(why *message.Failure) { r.lost((*NodeError)(why)) })
	r.tell = func(why error) { rt.meeting.Fails(p.call, (*message.Failure)(rt.o.Nodes.failureOf(why))) }
	return p
}

// Resource declares a resource of the phase: see [Runtime.Resource].
func (p *Phase) Resource(name string, size int) *resource.Resource {
	r, _ := p.rt.newResource(name, size, p.declare, p.resources)
	return r
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

// admit ends the declaration of a phase, and returns the run that it would join. The caller
// calls Done of that run's phases in the end.
func (rt *Runtime) admit(p *Phase) (whole *run, err error) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	p.declared = true
	if whole = rt.run; whole == nil || whole.over {
		return nil, ErrNotRunning
	}
	whole.phases.Add(1)
	return whole, nil
}

// dismiss forgets the tasks of a phase that have ended. It returns the errors of
// declarations that came too late.
func (rt *Runtime) dismiss(p *Phase) error {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.tasks = slices.DeleteFunc(slices.Clone(rt.tasks), func(t *Task) bool { return t.phase == p })
	rt.phases = slices.DeleteFunc(rt.phases, func(other *Phase) bool { return other == p })
	for _, t := range p.tasks {
		rt.seen.Forget(t.accesses, time.Now())
		if t.here() {
			rt.tell(Event{Kind: Forgotten, Task: t})
		}
	}
	return errors.Join(p.errs...)
}

// close ends a run whose tasks have ended: no phase joins it any more, and those that have
// joined end first.
func (rt *Runtime) close(r *run) {
	rt.mu.Lock()
	r.over = true
	rt.mu.Unlock()
	rt.meeting.End(ErrNotRunning)
	r.phases.Wait()
	rt.meeting.Leave()
}
