package inspect

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// State is a program at one moment, as seen by one of its nodes. Its String tells which task waits for which, as the report of a stall does. Its JSON has the
// names in the tags, and lists keep their order from one state to the next.
type State struct {
	Node    int  `json:"node"`
	Running bool `json:"running"` // some task of this node runs
	// Starting says that this node has called Run and waits for the other nodes to do so. Then Still is for how long,
	// and the state has no tasks and no resources.
	Starting bool `json:"starting,omitempty"`
	// Still is how long nothing has moved on this node, as far as it has looked.
	Still Seconds `json:"still_seconds"`
	// Stalls counts how often nothing moved for Options.Stall. Stalled says that nothing
	// has moved since the last time.
	Stalls    uint64          `json:"stalls,omitempty"`
	Stalled   bool            `json:"stalled,omitempty"`
	Nodes     []NodeState     `json:"nodes"`
	Tasks     []TaskState     `json:"tasks"`     // the tasks of this node, in the order of the program
	Resources []ResourceState `json:"resources"` // the resources that this node's tasks access or that are kept here, by name
	// WaitsFor is the wait-for graph, in the order of the tasks that wait.
	WaitsFor []WaitEdge `json:"waits_for"`
	// Workers is nil before the run.
	Workers *Workers `json:"workers,omitempty"`
	// Grids are the grids of the program, in its order.
	Grids []Grid `json:"grids,omitempty"`
	// Sent is how many bytes this node has sent to each node, by number, headers of messages included. It is nil if there is
	// one node.
	Sent []uint64 `json:"sent_bytes,omitempty"`
	// Life is the present life of the run, with its cuts and the lives before. It is nil if the run has one life.
	Life *Life `json:"life,omitempty"`
	// Why is the culprit, found over all nodes, in one line: see [Run.Why]. The report of a stall has it.
	Why string `json:"why,omitempty"`
	// Pace is how fast the program goes, and could go, or how the last run went, as far as bodies were timed. It is nil
	// on several nodes, and if a task has a goroutine.
	Pace *Pace `json:"pace,omitempty"`
}

// Life is the present life of a run, as a node remembers it, and the last whole cut. The next life would begin from there.
type Life struct {
	PastLife
	Run    uint64  `json:"cut_run"`   // of the runtime, from 1: the last whole cut is in it
	Round  uint64  `json:"cut_round"` // behind which that cut is; 0: a life would begin at the start of the run
	Age    Seconds `json:"cut_age_seconds"`
	Cuts   uint64  `json:"cuts"`         // whole ones, of all lives
	Copied uint64  `json:"cut_bytes"`    // bytes that tasks of this node have copied for cuts
	Failed uint64  `json:"cut_failures"` // parts of cuts that this node could not send or save
	// Mortal is why no life can follow this one, empty if one can.
	Mortal string `json:"mortal,omitempty"`
	// Past are the lives before, the oldest first.
	Past []PastLife `json:"past,omitempty"`
}

// PastLife is a life of a run.
type PastLife struct {
	Number  uint64     `json:"number"`     // from 1
	FromRun uint64     `json:"from_run"`   // of the runtime, from 1: it began in this one,
	From    uint64     `json:"from_round"` // behind this round
	Seats   []int      `json:"seats"`      // the processes that it had, by their numbers in the first life
	Weights []int      `json:"weights"`    // how much of the work each of them got: 1000 is the mean
	Began   time.Time  `json:"began"`
	Ended   *time.Time `json:"ended,omitempty"`
	Why     string     `json:"why,omitempty"` // it ended
}

// Workers are the workers of a node.
type Workers struct {
	All    int `json:"all"`
	Asleep int `json:"asleep"` // they have found nothing to do
	// Taken is how often one of them has taken a task of another one, since it had nothing else to do: for one round, or for several
	// in a row.
	Taken uint64 `json:"taken,omitempty"`
}

// Grid is how far a node is with its blocks of a grid. Each sweep of each block counts.
type Grid struct {
	Grid  string `json:"grid"`
	Done  int64  `json:"done"`
	Total int64  `json:"total"` // unless a reduction ends the grid before
}

// AddGrids adds more grids to all: grids of one name count together.
func AddGrids(all, more []Grid) []Grid {
	for _, g := range more {
		i := slices.IndexFunc(all, func(o Grid) bool { return o.Grid == g.Grid })
		if i < 0 {
			all = append(all, g)
			continue
		}
		all[i].Done, all[i].Total = all[i].Done+g.Done, all[i].Total+g.Total
	}
	return all
}

// Pace is the time of a round, beside the least time that it can have.
type Pace struct {
	Round Seconds `json:"round_seconds"` // so far, on average
	// Bound is what the circle of tasks allows that wait for each other longest. A task may stand alone: its
	// rounds follow each other. No number of workers is faster.
	Bound  Seconds  `json:"bound_seconds"`
	Circle []string `json:"circle"` // each waits for the one before it
	// Work is the time of all bodies in a round, divided by the workers.
	Work    Seconds `json:"work_seconds"`
	Workers int     `json:"workers"`
}

// Seconds is a duration that JSON shows in seconds.
type Seconds struct{ time.Duration }

// MarshalJSON writes a number.
func (s Seconds) MarshalJSON() ([]byte, error) { return json.Marshal(s.Seconds()) }

// UnmarshalJSON reads a number.
func (s *Seconds) UnmarshalJSON(b []byte) error {
	var number float64
	err := json.Unmarshal(b, &number)
	s.Duration = time.Duration(number * float64(time.Second))
	return err
}

// NodeStatus is how a node is, as another node sees it.
type NodeStatus string

// The values of NodeStatus.
const (
	NodeHere      NodeStatus = "here"
	NodeSuspected NodeStatus = "suspected" // no message has come for a while
	NodeLost      NodeStatus = "lost"
	NodeLeft      NodeStatus = "left"
)

// NodeState is a node in a State.
type NodeState struct {
	Node  int        `json:"node"`
	State NodeStatus `json:"state"`
}

// TaskStatus is what a task does.
type TaskStatus string

// The values of TaskStatus.
const (
	TaskDeclared TaskStatus = "declared" // the program has not been started
	TaskWorking  TaskStatus = "working"
	// TaskWaiting: the task has a request that is not granted. The task may still work,
	// before it acquires; it does not report that.
	TaskWaiting TaskStatus = "waiting"
	// TaskQueued: all accesses of a task of Task.Each are granted, and no worker has begun its round yet.
	TaskQueued TaskStatus = "queued"
	TaskEnded  TaskStatus = "ended"
)

// TaskState is a task in a State.
type TaskState struct {
	Task  string     `json:"task"`
	Node  int        `json:"node"`
	State TaskStatus `json:"state"`
	Round int64      `json:"round"`
	// Rounds is how many rounds the task will go through; 0 if that is not known.
	Rounds int64 `json:"rounds,omitempty"`
	// For is how long none of its accesses has changed, at least, as Waits.For counts.
	For Seconds `json:"for_seconds,omitzero"`
	// At is where the body is: a function, a file, and what its goroutine waits for. Only [State.Why] looks it up.
	At string `json:"at,omitempty"`
	// Holds are the resources with a grant for the task, acquired or not.
	Holds []string `json:"holds"`
	// Waits is the first access that is requested and not granted.
	Waits *WaitState `json:"waits,omitempty"`
}

// WaitState is an access that a task waits for, or will wait for.
type WaitState struct {
	Resource string `json:"resource"`
	Mode     string `json:"mode"`
	// For is how long the wait has lasted, at least. The runtime looks four times in each
	// Options.Stall, and a wait counts from the look that first saw it.
	For Seconds `json:"for_seconds"`
	// Behind are the tasks with a grant of the resource: tasks of this node by name,
	// others as "node 2". If nothing moves and no task of a run on one node has it, a
	// handle outside the tasks does.
	Behind []string `json:"behind"`
}

// ResourceState is a resource in a State.
type ResourceState struct {
	Resource string `json:"resource"`
	Home     int    `json:"home"`
	Size     int    `json:"size_bytes"`
	// Version counts the writes, and Fence the granted writers. If the resource has
	// another home, both are from the last grant here.
	Version uint64 `json:"version"`
	Fence   uint64 `json:"fence"`
	Broken  bool   `json:"broken"`
	// RelaxedWaits is how many relaxed accesses wait for ordered ones. OrderedWaits says
	// that ordered accesses wait for relaxed ones. Both count this node only. The runtime
	// does not know which task makes a relaxed access.
	RelaxedWaits int  `json:"relaxed_waits,omitempty"`
	OrderedWaits bool `json:"ordered_waits,omitempty"`
	// Guard is the lock of relaxed access, at the resource's home, from the first relaxed access on.
	Guard *Guard `json:"guard,omitempty"`
	// Whole says that the queue is complete. For a resource with another home it shows
	// this node's requests only.
	Whole bool         `json:"whole"`
	Queue []GroupState `json:"queue"` // the first group is granted, if any is
}

// Guard is a lock, and how its ranks have fared since the beginning.
type Guard struct {
	Algorithm string `json:"algorithm"`
	Acquired  uint64 `json:"acquired"`
	Waited    uint64 `json:"waited"` // the acquisitions that found a predecessor
	Near      uint64 `json:"near"`   // the acquisitions whose holder handed the lock on within its element of the machine
	// Unfair is the coefficient of variation of the acquisitions of the ranks that have any: 0 is fair.
	Unfair float64 `json:"unfair"`
}

// Unfairness is the coefficient of variation of the numbers that are not 0.
func Unfairness(acquired []uint64) float64 {
	n, sum, squares := 0.0, 0.0, 0.0
	for _, a := range acquired {
		if a > 0 {
			v := float64(a)
			n, sum, squares = n+1, sum+v, squares+v*v
		}
	}
	if n == 0 {
		return 0
	}
	mean := sum / n
	return math.Sqrt(max(0, squares/n-mean*mean)) / mean
}

// GroupState is a group of a queue: a writer, or neighbouring readers.
type GroupState struct {
	Mode    string         `json:"mode"`
	Granted bool           `json:"granted"`
	Members []RequestState `json:"members"`
}

// RequestState is a request in a queue.
type RequestState struct {
	// The task's name, or "node 2" for a task of another node.
	Who  string `json:"who"`
	Node int    `json:"node"`
	Held bool   `json:"held"` // acquired; false for another node, since a home does not know it
}

// WaitEdge says that a task waits for another one, and for which resource.
type WaitEdge struct {
	From     string `json:"from"`
	To       string `json:"to"`
	Resource string `json:"resource"`
	Mode     string `json:"mode"` // the mode of the request that waits
	// Node is the node of To, and Round is how many rounds of To this node has heard of, if To is on another node.
	Node  int   `json:"node"`
	Round int64 `json:"round,omitempty"`
}

// Run is a program at one moment, as all its nodes see it. The nodes look one after another, so what moves meanwhile
// may show in two states.
type Run struct {
	Now   time.Time    `json:"now"`
	From  int          `json:"from"`  // the node that has asked the others
	Nodes []NodeReport `json:"nodes"` // by number
}

// Again is after how long a second look tells whether a program that has moved a moment ago stands still now.
const Again = standing + standing/10

// Runs reports whether tasks run on some node, or may.
func (r Run) Runs() bool {
	for _, n := range r.Nodes {
		if n.State == nil && n.Status != NodeLeft || n.State != nil && (n.State.Running || n.State.Starting) {
			return true
		}
	}
	return false
}

// NodeReport is what a node has said of itself, or that it has said nothing.
type NodeReport struct {
	Node    int        `json:"node"`
	Process Process    `json:"process"`
	Status  NodeStatus `json:"status"` // the node that has asked sees it so
	// Silent is for how long the node has not answered. State is nil then.
	Silent Seconds `json:"silent_seconds,omitzero"`
	State  *State  `json:"state,omitempty"`
}

// Process is a process of some machine.
type Process struct {
	ID   int    `json:"pid"`
	Host string `json:"host"`
}

func (p Process) String() string {
	if p.Host == "" {
		return fmt.Sprintf("process %d", p.ID)
	}
	return fmt.Sprintf("process %d on %s", p.ID, p.Host)
}

// Activity is what a task does, as all nodes together know it.
type Activity string

// The values of Activity.
const (
	Idle     Activity = "idle"              // it has not begun, or has ended
	Computes Activity = "computes"          // its body runs
	Queued   Activity = "queued"            // all that it needs is there, but no worker is free
	ForTurn  Activity = "waits for a turn"  // another task has the turn, and has not ended it
	ForBytes Activity = "waits for data"    // the turn of the other node's task has ended, and the bytes are not here yet
	Unknown  Activity = "is not heard from" // its node does not answer
)

// RunTask is a task in a Run.
type RunTask struct {
	TaskState
	Is     Activity
	Behind int // the task that it waits for first, by its place in the list; -1: none
	// On is what it waits for first, if that is no task: "node 2", or "the bytes of x".
	On string
}

// Tasks are the tasks of all nodes that have answered, by node, and what most of the waits lead to.
func (r Run) Tasks() ([]RunTask, Why) {
	g := r.graph()
	all := make([]RunTask, g.tasks)
	for i := range all {
		v := &g.all[i]
		all[i] = RunTask{TaskState: *v.task, Is: g.activity(i), Behind: -1}
		if len(v.to) == 0 {
			continue
		}
		if to := v.to[0].vertex; to < g.tasks {
			all[i].Behind = to
		} else {
			all[i].On = g.plain(to)
		}
	}
	return all, g.why()
}

// manyLines is the most tasks that the text of a State writes out. Beyond that they mostly wait
// for tasks that wait, too, and look alike.
const manyLines = 50

// Runs reports whether the task has begun and not ended.
func (t TaskState) Runs() bool {
	return t.State == TaskWorking || t.State == TaskWaiting || t.State == TaskQueued
}

// String tells which task waits for which: Why, a line for each task that runs, and for each resource
// where relaxed or ordered accesses wait for the other kind. Working tasks come first, since
// all others wait for them in the end.
func (s State) String() string {
	var b strings.Builder
	if s.Why != "" {
		b.WriteString(s.Why + "\n")
	}
	tasks := slices.DeleteFunc(slices.Clone(s.Tasks), func(t TaskState) bool { return !t.Runs() })
	slices.SortStableFunc(tasks, func(x, y TaskState) int {
		return cmp.Compare(x.order(), y.order())
	})
	for i, t := range tasks {
		if i == manyLines {
			fmt.Fprintf(&b, "... and %d more tasks\n", len(tasks)-i)
			break
		}
		b.WriteString(t.String() + "\n")
	}
	for _, r := range s.Resources {
		if r.RelaxedWaits > 0 || r.OrderedWaits {
			b.WriteString(r.relaxed() + "\n")
		}
	}
	if s.Pace != nil {
		b.WriteString(s.Pace.String() + "\n")
	}
	return b.String()
}

// String is one line.
func (p *Pace) String() string {
	circle := p.Circle
	more := ""
	if len(circle) > manyLines {
		more = fmt.Sprintf(" and %d more", len(circle)-manyLines)
		circle = circle[:manyLines]
	}
	workers := "1 worker"
	if p.Workers != 1 {
		workers = fmt.Sprint(p.Workers, " workers")
	}
	return fmt.Sprintf("a round takes %v, at least %v by %s%s, and at least %v by %s",
		brief(p.Round), brief(p.Bound), strings.Join(circle, " ──▶ "), more, brief(p.Work), workers)
}

// brief is a time to three digits.
func brief(s Seconds) time.Duration {
	unit := time.Duration(1)
	for s.Duration/unit >= 1000 {
		unit *= 10
	}
	return s.Round(unit)
}

// relaxed is the line of a resource where accesses wait for the other kind.
func (r ResourceState) relaxed() string {
	var waits []string
	if r.RelaxedWaits == 1 {
		waits = append(waits, "1 relaxed access waits for ordered ones")
	} else if r.RelaxedWaits > 1 {
		waits = append(waits, fmt.Sprintf("%d relaxed accesses wait for ordered ones", r.RelaxedWaits))
	}
	if r.OrderedWaits {
		waits = append(waits, "ordered accesses wait for relaxed ones, which are inside")
	}
	return fmt.Sprintf("relaxed access of %s: %s", r.Resource, strings.Join(waits, "; "))
}

// String is one line.
func (t TaskState) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, round %d", t.Task, t.Round)
	if len(t.Holds) > 0 {
		fmt.Fprintf(&b, ", holds %s", strings.Join(t.Holds, " "))
	}
	w := t.Waits
	switch {
	case t.State == TaskQueued:
		return b.String() + ", waits for a worker"
	case w == nil:
		return b.String() + ", works"
	}
	fmt.Fprintf(&b, ", waits to %s %s", w.Mode, w.Resource)
	if w.For.Duration > 0 {
		fmt.Fprintf(&b, " for %v", w.For.Round(time.Millisecond))
	}
	if len(w.Behind) > 0 {
		fmt.Fprintf(&b, " ──▶ %s", strings.Join(w.Behind, " "))
	}
	return b.String()
}

// order puts tasks that work before those that wait for a worker, and these before those that wait for an access.
func (t TaskState) order() int {
	switch {
	case t.Waits != nil:
		return 2
	case t.State == TaskQueued:
		return 1
	}
	return 0
}
