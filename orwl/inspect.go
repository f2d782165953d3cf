package orwl

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/orwl/inspect"
	"github.com/orwl/go-orwl/orwl/internal/looks"
	"github.com/orwl/go-orwl/resource"
)

// State is a program at one moment, as seen by one of its nodes: see [inspect.State]. Its String
// tells which task waits for which, as the report of a stall does.
type State = inspect.State

// The parts of a State: see package inspect.
type (
	NodeState     = inspect.NodeState
	NodeStatus    = inspect.NodeStatus
	TaskState     = inspect.TaskState
	TaskStatus    = inspect.TaskStatus
	WaitState     = inspect.WaitState
	ResourceState = inspect.ResourceState
	GroupState    = inspect.GroupState
	RequestState  = inspect.RequestState
	WaitEdge      = inspect.WaitEdge
	Seconds       = inspect.Seconds
)

// The values of NodeStatus and TaskStatus.
const (
	NodeHere      = inspect.NodeHere
	NodeSuspected = inspect.NodeSuspected // no message has come for a while
	NodeLost      = inspect.NodeLost
	NodeLeft      = inspect.NodeLeft

	TaskDeclared = inspect.TaskDeclared // the program has not been started
	TaskWorking  = inspect.TaskWorking
	TaskWaiting  = inspect.TaskWaiting // it has a request that is not granted
	TaskEnded    = inspect.TaskEnded
)

// Inspect looks at the program as it is. It stops no task, so what moves meanwhile may
// show in two states. Any goroutine may call it at any time. It waits only while the run
// starts.
func (rt *Runtime) Inspect() State { return rt.state(rt.look()) }

// state is what a look has seen, and how the nodes are now.
func (rt *Runtime) state(l *looks.Look) State {
	s := l.State()
	s.Stalls, s.Stalled = rt.stalls.Load(), rt.still.Load()
	s.Nodes = rt.o.Nodes.states()
	rt.mu.Lock()
	r := rt.run
	rt.mu.Unlock()
	if r != nil && r.planned != nil && s.Running {
		s.Pace = r.planned.pace()
	}
	return s
}

// line is the queue of a resource in a look.
type line struct {
	looks.Line
	r       *resource.Resource
	touched bool // a task of this node accesses it
}

// looker takes a look.
type looker struct {
	rt    *Runtime
	now   time.Time
	run   *run // nil before the run
	look  *looks.Look
	lines map[*resource.Resource]*line
}

// look takes a look. Declarations do not change while the program runs. Before that
// they are all that there is to see.
func (rt *Runtime) look() *looks.Look {
	k := looker{rt: rt, now: time.Now(), look: &looks.Look{Node: rt.Node()}, lines: make(map[*resource.Resource]*line)}
	rt.mu.Lock()
	tasks := rt.tasks
	k.run = rt.run
	for name, r := range rt.resources {
		home := rt.homes[name]
		k.lines[r] = &line{r: r, Line: looks.Line{
			Resource: name, Home: home, Whole: home == rt.Node(), Alone: !rt.o.Nodes.many(), Planned: k.run != nil && k.run.planned != nil,
		}}
	}
	if k.run == nil {
		k.at(tasks)
		rt.mu.Unlock()
		return k.look
	}
	rt.mu.Unlock()
	k.look.Started = true
	k.at(slices.DeleteFunc(slices.Clone(tasks), func(t *Task) bool { return !t.here() }))
	return k.look
}

// at looks at tasks, and at the lines that concern this node.
func (k *looker) at(tasks []*Task) {
	for _, t := range tasks {
		k.look.Tasks = append(k.look.Tasks, k.task(t))
	}
	if k.run != nil {
		k.look.Still = k.rt.seen.Still(k.now)
	}
	for _, l := range k.lines {
		if l.touched || l.Whole {
			l.Look(l.r)
			k.look.Lines = append(k.look.Lines, &l.Line)
		}
	}
	for _, t := range k.look.Tasks {
		for i := range t.Accesses {
			if a := &t.Accesses[i]; a.Requested && a.Line.Planned {
				a.Granted = a.Line.Grants(a.Ticket)
			}
		}
	}
	slices.SortFunc(k.look.Lines, func(a, b *looks.Line) int { return cmp.Compare(a.Resource, b.Resource) })
}

// task looks at a task, and puts its requests into their lines.
func (k *looker) task(t *Task) *looks.Task {
	seen := &looks.Task{Name: t.name, Node: t.on, Round: t.Round(), Started: k.run != nil, Over: t.ended.Load()}
	for _, a := range t.accesses {
		l := k.lines[a.resource]
		l.touched = true
		at := looks.Access{Line: &l.Line}
		if k.run != nil {
			k.access(t, a, &at)
		}
		seen.Accesses = append(seen.Accesses, at)
	}
	return seen
}

// access puts the request of an access into its line. It notes the state of the request, and for how
// long that was seen.
func (k *looker) access(t *Task, a *Access, at *looks.Access) {
	p := a.Place()
	look := p.Inspect(a.resource)
	if at.Line.Planned {
		look = p.InspectRun(a.resource)
	}
	at.PlaceState, at.For = look, k.rt.seen.See(a, look.Stamp, k.now)
	if look.Requested || look.Held {
		at.Line.Requests = append(at.Line.Requests, looks.Request{
			Who: t.name, Node: t.on, Mode: a.mode, Granted: look.Granted, Held: look.Held, Ticket: look.Ticket, For: at.For,
		})
	}
}

// states is how each node is.
func (n *Nodes) states() []NodeState {
	all := make([]NodeState, n.Count())
	for i := range all {
		all[i] = NodeState{Node: i, State: n.status(i)}
	}
	return all
}

// status is how a node is.
func (n *Nodes) status(number int) NodeStatus {
	if !n.many() || number == n.Number() {
		return NodeHere
	}
	switch err := n.node.Lost(number); {
	case errors.Is(err, node.ErrLeft):
		return NodeLeft
	case err != nil:
		return NodeLost
	case n.node.Suspected(number):
		return NodeSuspected
	}
	return NodeHere
}
