package looks

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl/inspect"
	"github.com/orwl/go-orwl/orwl/internal/spread"
)

// Look is what one look at a program has seen.
type Look struct {
	Node    int
	Started bool
	Tasks   []*Task // of this node
	Lines   []*Line // by name
	Still   time.Duration
}

// Task is a task, and what its accesses looked like.
type Task struct {
	Name     string
	Node     int
	Round    int64
	Started  bool
	Over     bool
	Step     bool  // workers run it
	Rounds   int64 // 0: unknown
	At       string
	Accesses []Access
}

// Access is an access of a [Task].
type Access struct {
	queue.PlaceState // of the request of the present round
	Line             *Line
	For              time.Duration // how long it has looked so, at least
}

// State is the program in the look. Its counts of stalls and its Nodes are left out.
func (l *Look) State() inspect.State {
	s := inspect.State{
		Node: l.Node, Running: l.Running(), Still: inspect.Seconds{Duration: l.Still},
		Tasks: []inspect.TaskState{}, Resources: []inspect.ResourceState{}, WaitsFor: []inspect.WaitEdge{},
	}
	for _, t := range l.Tasks {
		s.Tasks = append(s.Tasks, t.state(l.Still > 0))
		s.WaitsFor = append(s.WaitsFor, t.edges()...)
	}
	for _, line := range l.Lines {
		s.Resources = append(s.Resources, line.state())
	}
	return s
}

// Running reports whether some task of this node runs.
func (l *Look) Running() bool {
	return l.Started && slices.ContainsFunc(l.Tasks, func(t *Task) bool { return !t.Over })
}

// holds names the resources with a grant for the task.
func (t *Task) holds() []string {
	names := []string{}
	for _, a := range t.Accesses {
		if a.Granted {
			names = append(names, a.Line.Resource)
		}
	}
	return names
}

// waits reports whether the access is requested and not granted.
func (a *Access) waits() bool { return a.Requested && !a.Granted }

// waits is the first access that waits, or nil.
func (t *Task) waits() *Access {
	for i := range t.Accesses {
		if a := &t.Accesses[i]; a.waits() {
			return a
		}
	}
	return nil
}

func (t *Task) status() inspect.TaskStatus {
	switch {
	case !t.Started:
		return inspect.TaskDeclared
	case t.Over:
		return inspect.TaskEnded
	case t.waits() != nil:
		return inspect.TaskWaiting
	case t.Step && slices.ContainsFunc(t.Accesses, func(a Access) bool { return a.Requested && !a.Held }):
		return inspect.TaskQueued
	}
	return inspect.TaskWorking
}

// state is the task in a State. stands says that nothing has moved since an earlier look.
func (t *Task) state(stands bool) inspect.TaskState {
	s := inspect.TaskState{Task: t.Name, Node: t.Node, State: t.status(), Round: t.Round, Rounds: t.Rounds, Holds: t.holds(), At: t.At}
	if s.Runs() && len(t.Accesses) > 0 {
		last := slices.MinFunc(t.Accesses, func(a, b Access) int { return cmp.Compare(a.For, b.For) })
		s.For.Duration = last.For
	}
	if a := t.waits(); a != nil {
		s.Waits = &inspect.WaitState{Resource: a.Line.Resource, Mode: a.Mode.String(), For: inspect.Seconds{Duration: a.For}, Behind: a.Line.behind(stands)}
	}
	return s
}

// edges are the wait-for edges of the task, for all of its accesses that wait.
func (t *Task) edges() (edges []inspect.WaitEdge) {
	for _, a := range t.Accesses {
		if !a.waits() {
			continue
		}
		for _, r := range a.Line.Requests {
			if r.Granted {
				edges = append(edges, inspect.WaitEdge{From: t.Name, To: r.Who, Resource: a.Line.Resource, Mode: a.Mode.String(), Node: r.Node, Round: r.Round})
			}
		}
	}
	return edges
}

// Placement is the placement of a program whose tasks and resources have these places. It counts
// the bytes that go from node to node.
func Placement(program *spread.Program, node int, tasks []inspect.TaskPlacement, resources []inspect.ResourcePlacement) inspect.Placement {
	p := inspect.Placement{Node: node, Nodes: program.Nodes, ByIndex: program.Dealt(), Tasks: tasks, Resources: resources}
	decides := make(map[string]string)
	for r, task := range program.Deciders() {
		decides[program.Names[r]] = tasks[task].Task
	}
	homes, at := make(map[string]int, len(resources)), make(map[string]int, len(resources))
	for i := range resources {
		r := &resources[i]
		homes[r.Resource], at[r.Resource] = r.Home, i
		if _, r.Declared = program.Homes[r.Resource]; !r.Declared {
			r.Task = decides[r.Resource]
		}
	}
	p.Accesses = slices.Clone(program.Accesses)
	for i := range p.Accesses {
		p.Accesses[i].Resource = at[program.Names[p.Accesses[i].Resource]]
	}
	var on []int
	for _, t := range tasks {
		on = append(on, t.Node)
	}
	byIndex := program.ByIndex()
	p.Crossing, p.BetweenMachines = program.Crossing(on, homes)
	p.CrossingByIndex, _ = program.Crossing(byIndex, program.HomesFor(byIndex))
	if m := program.Machines; m.Mixed() {
		p.Machines = m
	}
	return p
}

// Sightings remember since when accesses have looked as they do. A task does not report
// that it waits. So each look stores what it has seen, and the next look can say how
// long that has lasted, at least. K names an access. The zero value remembers nothing.
type Sightings[K comparable] struct {
	mu    sync.Mutex
	seen  map[K]sighting
	moved time.Time // when a look last saw a change
}

// sighting is what an access looked like, and since when.
type sighting struct {
	stamp uint64
	since time.Time
}

// Begin forgets everything, and counts from now.
func (s *Sightings[K]) Begin(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen, s.moved = make(map[K]sighting), now
}

// See notes what an access looks like, and returns how long it has looked so.
func (s *Sightings[K]) See(access K, stamp uint64, now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last, ok := s.seen[access]; ok && last.stamp == stamp {
		return max(0, now.Sub(last.since))
	}
	if s.seen == nil {
		s.seen = make(map[K]sighting)
	}
	s.seen[access] = sighting{stamp, now}
	if now.After(s.moved) {
		s.moved = now
	}
	return 0
}

// Len is how many accesses are remembered.
func (s *Sightings[K]) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.seen)
}

// Still is how long nothing has moved.
func (s *Sightings[K]) Still(now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(0, now.Sub(s.moved))
}

// Moved is the time of the last change that a look saw.
func (s *Sightings[K]) Moved() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.moved
}

// Request is a request in a [Line].
type Request struct {
	Who           string // a task of this node, or "node 2"
	Node          int
	Mode          queue.Mode
	Granted, Held bool
	Ticket        uint32
	Round         int64         // of a task on another node: how many of its rounds are known here
	For           time.Duration // how long it has looked so, at least
}

// Line is the queue of a resource.
type Line struct {
	Resource string
	Home     int
	Whole    bool // the home is here
	Alone    bool // the run has one node
	Planned  bool // the run has the resource for itself, or waits for it
	Now      queue.State
	Guard    *inspect.Guard // nil: there was no relaxed access here
	Requests []Request      // in the order of the queue, after Look

	grants bool   // the plan grants some
	upTo   uint32 // the last ticket of these
}

// Look adds what only the resource knows to the requests of this node's tasks, and sorts them all.
func (l *Line) Look(r *queue.Resource) {
	l.Now = r.Inspect()
	if algorithm, all, each := r.Guarded(); algorithm != "" {
		l.Guard = &inspect.Guard{Algorithm: algorithm, Acquired: all.Acquired, Waited: all.Waited, Near: all.Passed, Unfair: inspect.Unfairness(each)}
	}
	for _, g := range l.Now.Guests() {
		l.Requests = append(l.Requests, Request{
			Who: fmt.Sprintf("node %d", g.Node), Node: int(g.Node), Mode: g.Mode, Granted: g.Granted, Ticket: g.Ticket,
		})
	}
	// Tickets wrap around, so only differences count.
	slices.SortStableFunc(l.Requests, func(a, b Request) int {
		if a.Granted != b.Granted { // one of them has moved meanwhile
			if a.Granted {
				return -1
			}
			return 1
		}
		return int(int32(a.Ticket - b.Ticket))
	})
	if l.Planned && l.Now.Planned {
		l.grant()
	}
}

// grant finds what the plan of a run grants: what a queue would grant.
func (l *Line) grant() {
	for i := range l.Requests {
		r := &l.Requests[i]
		if i > 0 && !r.Held && (r.Mode == queue.Write || l.Requests[i-1].Mode == queue.Write) {
			return
		}
		r.Granted, l.upTo = true, r.Ticket
		l.grants = true
	}
}

// Grants reports whether grant has granted the request with a ticket.
func (l *Line) Grants(ticket uint32) bool { return l.grants && int32(ticket-l.upTo) <= 0 }

// ahead names the holders of grants in the line.
func (l *Line) ahead() (who []string) {
	for _, r := range l.Requests {
		if r.Granted {
			who = append(who, r.Who)
		}
	}
	return who
}

// behind names the holders of grants in the line for a request that waits. stands says that
// nothing has moved since an earlier look.
func (l *Line) behind(stands bool) []string {
	who := append([]string{}, l.ahead()...)
	if len(who) == 0 && stands && l.Alone && l.Now.Broken == nil {
		who = append(who, outsider)
	}
	return who
}

// outsider is the one that is granted a resource if no task is. It may be a handle.Pair that
// was dropped after Next. If anything moves, a look may miss the task that is granted, so
// it names the outsider only if nothing does.
const outsider = "a handle of no task"

func (l *Line) state() inspect.ResourceState {
	s := inspect.ResourceState{
		Resource: l.Resource, Home: l.Home, Whole: l.Whole, Queue: []inspect.GroupState{},
		Size: l.Now.Size, Version: l.Now.Version, Fence: l.Now.Fence, Broken: l.Now.Broken != nil,
		RelaxedWaits: l.Now.RelaxedWaits, OrderedWaits: l.Now.OrderedWaits, Guard: l.Guard,
	}
	for i, r := range l.Requests {
		last := len(s.Queue) - 1
		if i == 0 || r.Mode == queue.Write || l.Requests[i-1].Mode == queue.Write || r.Granted != l.Requests[i-1].Granted {
			s.Queue = append(s.Queue, inspect.GroupState{Mode: r.Mode.String(), Granted: r.Granted})
			last++
		}
		s.Queue[last].Members = append(s.Queue[last].Members, inspect.RequestState{Who: r.Who, Node: r.Node, Held: r.Held})
	}
	return s
}
