package orwl

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/orwl/go-orwl/internal/inner"
	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/net/node"
	"github.com/orwl/go-orwl/orwl/inspect"
	"github.com/orwl/go-orwl/orwl/internal/folder"
	"github.com/orwl/go-orwl/orwl/internal/looks"
	"github.com/orwl/go-orwl/orwl/internal/plan"
	"github.com/orwl/go-orwl/resource"
)

// Observer hears what the runtime does on this node, for example for metrics and traces.
// It must not wait, and must not change what it looks at.
//
// Another kind of observer hears the events of one access, or of the relaxed accesses of one resource. Packages of this
// module give it to the access or the resource when they hear of the declaration, with the kinds of events that they want:
//
//	func (o *counter) Observe(e orwl.Event) {
//		if e.Kind == orwl.Declared {
//			e.Access.Place().Observe(o.of(e.Access), queue.Waiting|queue.Acquired)
//		}
//	}
type Observer interface {
	// Observe tells of an event.
	Observe(e Event)
}

// Event is something that the runtime has done. These events are few: one for each
// declaration, and two or three for each task.
type Event struct {
	Kind     Kind
	Resource *resource.Resource // of Made
	Guard    string             // of Made: the lock between ordered and relaxed access
	Access   *Access            // of Declared
	Task     *Task              // of Began, Ended and Forgotten, and of the access
}

// Kind is a kind of event.
type Kind uint8

const (
	// Made comes when a resource has been declared.
	Made Kind = iota + 1
	// Declared comes for each access, before its first request, with the runtime locked.
	Declared
	// Began comes before a task's body, from the task's goroutine.
	Began
	// Ended comes from the task's goroutine when the runtime has taken its accesses back.
	Ended
	// Forgotten comes for each task of this node whose run has ended, when the program goes on to the
	// next run, with the runtime locked. Nothing of the task follows, and another task may have its name.
	// So an observer keeps no record of it.
	Forgotten
)

// tell tells all observers.
func (rt *Runtime) tell(e Event) {
	for _, o := range rt.o.Observers {
		o.Observe(e)
	}
}

func (t *Task) began() { t.rt.tell(Event{Kind: Began, Task: t}) }

func (t *Task) finished() { t.rt.tell(Event{Kind: Ended, Task: t}) }

// Inspect looks at the program as it is, as seen by this node. Its String tells which task waits for which, as the report of a
// stall does. It stops no task, so what moves meanwhile may
// show in two states. Any goroutine may call it at any time. On one node it waits
// while the run starts.
func (rt *Runtime) Inspect() inspect.State {
	if since := rt.starts.Load(); since != 0 { // the runtime is locked until the other nodes have come
		still := inspect.Seconds{Duration: time.Since(time.Unix(0, since))}
		return inspect.State{Node: rt.Node(), Starting: true, Still: still, Nodes: rt.o.Nodes.states(),
			Tasks: []inspect.TaskState{}, Resources: []inspect.ResourceState{}, WaitsFor: []inspect.WaitEdge{}}
	}
	return rt.state(rt.look())
}

// state is what a look has seen, and how the nodes are now.
func (rt *Runtime) state(l *looks.Look) inspect.State {
	s := l.State()
	s.Stalls, s.Stalled = rt.stalls.Load(), rt.still.Load()
	s.Nodes = rt.o.Nodes.states()
	rt.mu.Lock()
	r, grids, taken := rt.run, rt.grids, rt.taken
	rt.mu.Unlock()
	for _, g := range grids {
		done, total := g.progress()
		s.Grids = append(s.Grids, inspect.Grid{Grid: g.name, Done: done, Total: total})
	}
	if n := rt.o.Nodes; n != nil && n.survival != nil {
		s.Life = n.survival.log.state()
	}
	if n := rt.o.Nodes; n.many() {
		for i := range n.sent {
			s.Sent = append(s.Sent, n.sent[i].Load())
		}
	}
	if r != nil {
		s.Pace = r.planned.pace()
		if n := len(r.planned.workers); n > 0 {
			s.Workers = &inspect.Workers{All: n, Asleep: r.planned.pool.Asleep(), Taken: taken + r.planned.pool.Taken()}
		}
	}
	return s
}

// line is the queue of a resource in a look.
type line struct {
	looks.Line
	r       *queue.Resource
	touched bool // a task of this node accesses it
}

// looker takes a look.
type looker struct {
	rt    *Runtime
	now   time.Time
	run   *run // nil before the run
	look  *looks.Look
	lines map[*queue.Resource]*line
}

// look takes a look. Declarations do not change while the program runs. Before that
// they are all that there is to see.
func (rt *Runtime) look() *looks.Look {
	k := looker{rt: rt, now: time.Now(), look: &looks.Look{Node: rt.Node()}, lines: make(map[*queue.Resource]*line)}
	rt.mu.Lock()
	tasks := rt.tasks
	k.run = rt.run
	for name, r := range rt.resources {
		home := rt.homes[name]
		k.lines[r.Resource] = &line{r: r.Resource, Line: looks.Line{
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
	if k.run != nil && k.run.planned != nil && k.run.planned.across != nil {
		k.elsewhere(k.run.planned)
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
	seen := &looks.Task{Name: t.name, Node: t.on, Round: t.Round(), Started: k.run != nil, Over: t.ended.Load(), Step: t.step != nil}
	if t.step != nil {
		seen.Rounds = max(0, int64(t.step.said))
	}
	for _, a := range t.accesses {
		l := k.lines[a.resource.Resource]
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
	p := &a.place
	look := p.Inspect(a.resource.Resource)
	if at.Line.Planned {
		look = p.InspectRun(a.resource.Resource)
	}
	at.PlaceState, at.For = look, k.rt.seen.See(a, look.Stamp, k.now)
	if look.Requested || look.Held {
		at.Line.Requests = append(at.Line.Requests, looks.Request{
			Who: t.name, Node: t.on, Mode: a.mode, Granted: look.Granted, Held: look.Held, Ticket: look.Ticket, For: at.For,
		})
	}
}

// elsewhere puts the requests of tasks on other nodes into their lines, as far as this node hears of them: all writes of
// a resource that has a copy here, and the reads that a task here waits for.
func (k *looker) elsewhere(p *planned) {
	heard := make(map[int]bool)
	for c, t := range p.tasks {
		if t.here() {
			for _, when := range p.plan.When(c) {
				heard[when.Counter()] = true
			}
		}
	}
	for n, h := range p.across.holds {
		if h == nil {
			continue
		}
		uses := p.plan.Uses(n)
		for i, u := range uses {
			c := int(u.Counter)
			done := p.pool.Done(c)
			t := p.tasks[c]
			if t.here() || done == plan.Ended || !u.Writes && !heard[c] {
				continue
			}
			mode := queue.Read
			if u.Writes {
				mode = queue.Write
			}
			l := k.lines[h.Resource()]
			l.Line.Requests = append(l.Line.Requests, looks.Request{Who: t.name, Node: t.on, Mode: mode, Round: int64(done), Ticket: done*uint32(len(uses)) + uint32(i)})
		}
	}
}

// states is how each node is.
func (n *Nodes) states() []inspect.NodeState {
	all := make([]inspect.NodeState, n.Count())
	for i := range all {
		all[i] = inspect.NodeState{Node: i, State: n.status(i)}
	}
	return all
}

// status is how a node is.
func (n *Nodes) status(number int) inspect.NodeStatus {
	if !n.many() || number == n.Number() {
		return inspect.NodeHere
	}
	switch err := n.node.Lost(number); {
	case errors.Is(err, node.ErrLeft):
		return inspect.NodeLeft
	case err != nil:
		return inspect.NodeLost
	case n.node.Suspected(number):
		return inspect.NodeSuspected
	}
	return inspect.NodeHere
}

// Where a body is stands in the stack of its goroutine. The stack also has the method of this package that has called the
// body, with the address of its step or task:
//
//	goroutine 37 [chan receive, 2 minutes]:
//	main.relax(...)
//		/home/ann/halo.go:42 +0x45
//	...
//	github.com/orwl/go-orwl/orwl.(*step).call(0xc0000b2000)

const (
	mostStacks  = 4 << 20 // bytes of stacks that are read
	mostLocated = 32      // bodies that are looked for, those that have stood still for longest
)

// locate says where the bodies of working tasks are. It stops the process for a moment.
func (rt *Runtime) locate(s *inspect.State) {
	var working []*inspect.TaskState
	for i := range s.Tasks {
		if t := &s.Tasks[i]; t.State == inspect.TaskWorking {
			working = append(working, t)
		}
	}
	if len(working) == 0 {
		return
	}
	slices.SortStableFunc(working, func(a, b *inspect.TaskState) int { return cmp.Compare(b.For.Duration, a.For.Duration) })
	rt.mu.Lock()
	tasks := make(map[string]*Task, len(rt.tasks))
	for _, t := range rt.tasks {
		tasks[t.name] = t
	}
	rt.mu.Unlock()
	stacks := allStacks()
	for _, seen := range working[:min(len(working), mostLocated)] {
		t := tasks[seen.Task]
		if t == nil {
			continue
		}
		marks := []string{fmt.Sprintf("orwl.(*Task).live(%p", t)}
		if t.step != nil {
			marks = []string{fmt.Sprintf("orwl.(*step).call(%p", t.step), fmt.Sprintf("orwl.(*step).planned(%p", t.step)}
		}
		for _, stack := range stacks {
			if slices.ContainsFunc(marks, func(m string) bool { return strings.Contains(stack, m) }) {
				seen.At = position(stack)
				break
			}
		}
	}
}

// allStacks are the stacks of all goroutines.
func allStacks() []string {
	b := make([]byte, 64<<10)
	for {
		n := runtime.Stack(b, true)
		if n < len(b) || len(b) >= mostStacks {
			return strings.Split(string(b[:n]), "\n\n")
		}
		b = make([]byte, 4*len(b))
	}
}

var ours = regexp.MustCompile(`^github\.com/orwl/go-orwl/(internal|resource|handle|locks|net)\b`)

// position is where a stack is: its first function that is not Go's own, nor of a package below this one, and what its goroutine waits for.
func position(stack string) string {
	lines := strings.Split(stack, "\n")
	_, state, _ := strings.Cut(lines[0], "[")
	state, _, _ = strings.Cut(state, "]")
	for i := 1; i+1 < len(lines); i += 2 {
		name := lines[i]
		if at := strings.LastIndex(name, "("); at > 0 {
			name = name[:at]
		}
		path, _, _ := strings.Cut(name, ".")
		first, _, deep := strings.Cut(name, "/")
		if ours.MatchString(name) || path != "main" && (!deep || !strings.Contains(first, ".")) {
			continue // a package of Go, or one below this
		}
		name = name[strings.LastIndex(name, "/")+1:]
		file, _, _ := strings.Cut(strings.TrimSpace(lines[i+1]), " ")
		return fmt.Sprintf("%s (%s, %s)", name, filepath.Base(file), state)
	}
	return ""
}

func init() {
	inner.OfRuntime = func(rt any) inner.Runtime { return innerRuntime{rt.(*Runtime)} }
	inner.OfTask = func(t any) inner.Task { return innerTask{t.(*Task)} }
	inner.OfAccess = func(a any) inner.Access { return innerAccess{a.(*Access)} }
	inner.Computes = func(o any, ran func() int64) { o.(*Options).ran = ran }
	inner.KeepCuts = func(o, disk any) { o.(*Options).disk = disk.(folder.Disk) }
}

// innerRuntime is a Runtime as other packages of this module see it.
type innerRuntime struct{ *Runtime }

// Network implements inner.Runtime.
func (rt innerRuntime) Network() node.Node { return rt.o.Nodes.Network() }

// Leave implements inner.Runtime.
func (rt innerRuntime) Leave() bool {
	s := rt.o.Nodes.survival
	return s != nil && s.cuts.Load() && !s.leaves.Swap(true)
}

// Grid implements inner.Runtime.
func (rt innerRuntime) Grid(name string, progress func() (done, total int64)) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.turn()
	rt.grids = append(slices.Clip(rt.grids), grid{name, progress})
}

// Weights implements inner.Runtime.
func (rt innerRuntime) Weights() []int { return rt.o.Nodes.weighs() }

// innerTask is a Task as other packages of this module see it.
type innerTask struct{ t *Task }

func (t innerTask) Read(r *resource.Resource) any  { return t.t.reads(r) }
func (t innerTask) Write(r *resource.Resource) any { return t.t.writes(r) }

func (t innerTask) Unit() { t.t.unit = true }

func (t innerTask) Did() int64 { return t.t.did() }

func (t innerTask) Accesses() []inner.Access {
	all := make([]inner.Access, len(t.t.accesses))
	for i, a := range t.t.accesses {
		all[i] = innerAccess{a}
	}
	return all
}

// innerAccess is an Access as other packages of this module see it.
type innerAccess struct{ a *Access }

func (a innerAccess) Place() *queue.Place { return &a.a.place }
func (a innerAccess) Resource() *resource.Resource {
	return (*resource.Resource)(a.a.resource.Resource)
}
func (a innerAccess) Mode() queue.Mode { return a.a.mode }
