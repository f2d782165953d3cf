package looks

import (
	"cmp"
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
