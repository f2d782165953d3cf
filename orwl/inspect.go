package orwl

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/resource"
)

// view is what one look at the program has seen. A State is made from it.
type view struct {
	rt      *Runtime
	started bool
	tasks   []*taskView // of this node
	lines   []*line     // by name
	still   time.Duration
}

// taskView is a task, and what its accesses looked like.
type taskView struct {
	*Task
	started  bool
	over     bool
	node     int
	round    int64
	accesses []accessView
}

type accessView struct {
	*Access
	resource.PlaceState
	line  *line
	since time.Duration // how long it has looked so, at least
}

// line is the queue of a resource.
type line struct {
	r     *resource.Resource
	home  int
	whole bool
	alone bool // the run has one node
	now   resource.State
	all   []entry // in the order of the queue
}

// entry is a request in a line.
type entry struct {
	who     string
	node    int
	mode    resource.Mode
	granted bool
	held    bool
	ticket  uint32
	early   bool          // its ticket is reserved, and the request has not come
	since   time.Duration // how long it has looked so, at least
}

// look takes a view. Declarations do not change while the program runs. Before that
// they are all that there is to see.
func (rt *Runtime) look() *view {
	now := time.Now()
	lines := make(map[*resource.Resource]*line)
	touched := make(map[*line]bool)
	rt.mu.Lock()
	tasks, run := rt.tasks, rt.run
	for name, r := range rt.resources {
		home := rt.homes[name]
		lines[r] = &line{r: r, home: home, whole: home == rt.Node(), alone: !rt.o.Nodes.many()}
	}
	v := &view{rt: rt, started: run != nil}
	if !v.started {
		for _, t := range tasks {
			v.tasks = append(v.tasks, rt.lookAt(t, nil, lines, touched, now))
		}
		v.add(lines, touched)
	}
	rt.mu.Unlock()
	if v.started {
		for _, t := range tasks {
			if t.here() {
				v.tasks = append(v.tasks, rt.lookAt(t, run, lines, touched, now))
			}
		}
		v.still = rt.seen.still(now)
		v.add(lines, touched)
	}
	return v
}

// add adds the lines that concern this node.
func (v *view) add(lines map[*resource.Resource]*line, touched map[*line]bool) {
	for _, l := range lines {
		if touched[l] || l.whole {
			l.look()
			v.lines = append(v.lines, l)
		}
	}
	slices.SortFunc(v.lines, func(a, b *line) int { return cmp.Compare(a.r.Name(), b.r.Name()) })
}

// lookAt looks at a task, and puts its requests into their lines.
func (rt *Runtime) lookAt(t *Task, run *run, lines map[*resource.Resource]*line, touched map[*line]bool, now time.Time) *taskView {
	tv := &taskView{Task: t, started: run != nil, over: t.ended.Load(), node: t.on, round: t.Round()}
	for _, a := range t.accesses {
		l := lines[a.resource]
		touched[l] = true
		av := accessView{Access: a, line: l}
		if run != nil {
			av.PlaceState, av.since = l.lookAt(t, a, func(stamp uint64) time.Duration { return rt.seen.see(a, stamp, now) })
		}
		tv.accesses = append(tv.accesses, av)
	}
	return tv
}

// lookAt adds the requests of a task's access. It returns the state of the request
// of the present round, and for how long that was seen.
func (l *line) lookAt(t *Task, a *Access, see func(stamp uint64) time.Duration) (present resource.PlaceState, since time.Duration) {
	first := true
	for p := range a.Places() {
		look := p.Inspect(a.resource)
		e := entry{who: t.name, node: t.on, mode: a.mode, granted: look.Granted, held: look.Held, ticket: look.Ticket}
		if first {
			present, since, first = look, see(look.Stamp), false
			e.since = since
		}
		if look.Requested || look.Held {
			l.all = append(l.all, e)
		}
	}
	return present, since
}

// look adds what only the resource knows, and sorts the requests.
func (l *line) look() {
	l.now = l.r.Inspect()
	for _, g := range l.now.Guests() {
		l.all = append(l.all, entry{
			who: guestName(g.Node), node: int(g.Node), mode: g.Mode, granted: g.Granted, ticket: g.Ticket, early: g.Early,
		})
	}
	// Tickets wrap around, so only differences count.
	slices.SortStableFunc(l.all, func(a, b entry) int {
		if a.granted != b.granted { // one of them has moved meanwhile
			return boolInt(b.granted) - boolInt(a.granted)
		}
		return int(int32(a.ticket - b.ticket))
	})
}

// ahead names the holders of grants in the line.
func (l *line) ahead() (who []string) {
	for _, e := range l.all {
		if e.granted {
			who = append(who, e.who)
		}
	}
	return who
}

// behind names the holders of grants in the line for a request that waits. stands says that
// nothing has moved since an earlier look.
func (l *line) behind(stands bool) []string {
	who := append([]string{}, l.ahead()...)
	if len(who) == 0 && stands && l.alone && l.now.Broken == nil {
		who = append(who, outsider)
	}
	return who
}

// outsider is the one that is granted a resource if no task is. It may be a handle.Pair that
// was dropped after Next. If anything moves, a look may miss the task that is granted, so
// it names the outsider only if nothing does.
const outsider = "a handle of no task"

func (l *line) state() ResourceState {
	s := ResourceState{
		Resource: l.r.Name(), Home: l.home, Whole: l.whole, Queue: []GroupState{},
		Size: l.now.Size, Version: l.now.Version, Fence: l.now.Fence, Broken: l.now.Broken != nil,
		RelaxedWaits: l.now.RelaxedWaits, OrderedWaits: l.now.OrderedWaits,
	}
	for i, e := range l.all {
		last := len(s.Queue) - 1
		if i == 0 || e.mode == resource.Write || l.all[i-1].mode == resource.Write || e.granted != l.all[i-1].granted {
			s.Queue = append(s.Queue, GroupState{Mode: e.mode.String(), Granted: e.granted})
			last++
		}
		s.Queue[last].Members = append(s.Queue[last].Members, RequestState{Who: e.who, Node: e.node, Held: e.held})
	}
	return s
}

// state is what the view has seen.
func (v *view) state() State {
	rt := v.rt
	s := State{
		Node: rt.Node(), Running: v.running(), Still: Seconds{v.still}, Stalls: rt.stalls.Load(), Stalled: rt.still.Load(),
		Nodes: rt.o.Nodes.states(), Tasks: []TaskState{}, Resources: []ResourceState{}, WaitsFor: []WaitEdge{},
	}
	for _, t := range v.tasks {
		s.Tasks = append(s.Tasks, t.state(v.still > 0))
		s.WaitsFor = append(s.WaitsFor, t.edges()...)
	}
	for _, l := range v.lines {
		s.Resources = append(s.Resources, l.state())
	}
	return s
}

// running reports whether some task of this node runs.
func (v *view) running() bool {
	return v.started && slices.ContainsFunc(v.tasks, func(t *taskView) bool { return !t.over })
}

// holds names the resources with a grant for the task.
func (t *taskView) holds() (names []string) {
	for _, a := range t.accesses {
		if a.Granted {
			names = append(names, a.resource.Name())
		}
	}
	return names
}

// waits is the first access that is not granted, or nil.
func (t *taskView) waits() *accessView {
	for i := range t.accesses {
		if a := &t.accesses[i]; a.Requested && !a.Granted {
			return a
		}
	}
	return nil
}

func (t *taskView) status() TaskStatus {
	switch {
	case !t.started:
		return TaskDeclared
	case t.over:
		return TaskEnded
	case t.waits() != nil:
		return TaskWaiting
	}
	return TaskWorking
}

// state is the task in a State. stands says that nothing has moved since an earlier look.
func (t *taskView) state(stands bool) TaskState {
	s := TaskState{Task: t.name, Node: t.node, State: t.status(), Round: t.round, Holds: append([]string{}, t.holds()...)}
	if a := t.waits(); a != nil {
		s.Waits = &WaitState{Resource: a.resource.Name(), Mode: a.mode.String(), For: Seconds{a.since}, Behind: a.line.behind(stands)}
	}
	return s
}

// edges are the wait-for edges of the task, for all of its accesses that wait.
func (t *taskView) edges() (edges []WaitEdge) {
	for _, a := range t.accesses {
		if !a.Requested || a.Granted {
			continue
		}
		for _, who := range a.line.ahead() {
			edges = append(edges, WaitEdge{From: t.name, To: who, Resource: a.resource.Name(), Mode: a.mode.String()})
		}
	}
	return edges
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
