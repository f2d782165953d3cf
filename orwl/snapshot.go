package orwl

import (
	"fmt"

	"github.com/orwl/go-orwl/resource"
)

// Snapshot is a program at one moment, as one of its nodes sees it: for a page or a
// terminal that shows it while it runs. As JSON it has the names in the tags, and
// whatever is a list has an order that stays from one to the next.
type Snapshot struct {
	Node    int  `json:"node"`
	Running bool `json:"running"` // some task of this node is
	// Still is for how many seconds nothing has been seen to move on this node.
	Still     float64            `json:"still_seconds"`
	Nodes     []NodeSnapshot     `json:"nodes"`
	Tasks     []TaskSnapshot     `json:"tasks"`     // of this node, in the order of the program
	Resources []ResourceSnapshot `json:"resources"` // that this node's tasks access or that are kept here, by name
	// WaitsFor is the wait-for graph, in the order of the tasks that wait.
	WaitsFor []WaitEdge `json:"waits_for"`
}

// NodeState is how a node fares, as another sees it.
type NodeState string

// What becomes of nodes.
const (
	NodeHere      NodeState = "here"
	NodeSuspected NodeState = "suspected" // has not been heard for a while
	NodeLost      NodeState = "lost"
	NodeLeft      NodeState = "left"
)

// NodeSnapshot is a node in a Snapshot.
type NodeSnapshot struct {
	Node  int       `json:"node"`
	State NodeState `json:"state"`
}

// TaskState is what a task does.
type TaskState string

// What tasks do.
const (
	TaskDeclared TaskState = "declared" // the program has not been started
	TaskWorking  TaskState = "working"
	// TaskWaiting is one that has requested what is not granted. Perhaps it has not
	// come to where it acquires that, and works: nobody but itself can tell.
	TaskWaiting TaskState = "waiting"
	TaskEnded   TaskState = "ended"
)

// TaskSnapshot is a task in a Snapshot.
type TaskSnapshot struct {
	Task  string    `json:"task"`
	Node  int       `json:"node"`
	State TaskState `json:"state"`
	Round int64     `json:"round"`
	// Holds are the resources that it is granted, acquired or not.
	Holds []string `json:"holds"`
	// Waits is the first access that is requested and not granted.
	Waits *WaitSnapshot `json:"waits,omitempty"`
}

// WaitSnapshot is an access that a task waits for, or is going to.
type WaitSnapshot struct {
	Resource string `json:"resource"`
	Mode     string `json:"mode"`
	// For is how many seconds at least, as far as anybody has looked: the runtime does
	// four times in each Options.Stall.
	For float64 `json:"for_seconds"`
	// Behind are those that are granted what it waits for: tasks of this node, and
	// others as "node 2".
	Behind []string `json:"behind"`
}

// ResourceSnapshot is a resource in a Snapshot.
type ResourceSnapshot struct {
	Resource string `json:"resource"`
	Home     int    `json:"home"`
	Size     int    `json:"size_bytes"`
	// Version counts the writes, and Fence the writers that were granted; where the
	// resource has another home, as of what has last been granted here.
	Version uint64 `json:"version"`
	Fence   uint64 `json:"fence"`
	Broken  bool   `json:"broken"`
	// Whole says that the queue is: that of another home's resource shows this node's
	// requests only.
	Whole bool            `json:"whole"`
	Queue []GroupSnapshot `json:"queue"` // the first is granted, if any is
}

// GroupSnapshot is what a queue grants at once: a writer, or neighbouring readers.
type GroupSnapshot struct {
	Mode    string          `json:"mode"`
	Granted bool            `json:"granted"`
	Members []EntrySnapshot `json:"members"`
}

// EntrySnapshot is a request in a queue.
type EntrySnapshot struct {
	// Who is the task; of another node, that: "node 2".
	Who  string `json:"who"`
	Node int    `json:"node"`
	Held bool   `json:"held"` // it is acquired; of another node nobody here knows
}

// WaitEdge says that a task waits for another because of a resource.
type WaitEdge struct {
	From     string `json:"from"`
	To       string `json:"to"`
	Resource string `json:"resource"`
	Mode     string `json:"mode"` // that it waits for
}

// guestName is what a task of another node is called here.
func guestName(n resource.Node) string { return fmt.Sprintf("node %d", n) }

// Snapshot looks at the program as it is. It stops nobody, so that what moves
// meanwhile may show in two states. It may be called at any time, by anybody.
func (rt *Runtime) Snapshot() Snapshot {
	v := rt.look()
	s := Snapshot{
		Node: rt.Node(), Running: v.running(), Still: v.still.Seconds(), Nodes: rt.o.Nodes.states(),
		Tasks: []TaskSnapshot{}, Resources: []ResourceSnapshot{}, WaitsFor: []WaitEdge{},
	}
	for _, t := range v.tasks {
		s.Tasks = append(s.Tasks, t.snapshot())
		s.WaitsFor = append(s.WaitsFor, t.edges()...)
	}
	for _, l := range v.lines {
		s.Resources = append(s.Resources, l.snapshot())
	}
	return s
}

// states is how each node fares.
func (n *Nodes) states() []NodeSnapshot {
	all := make([]NodeSnapshot, n.Count())
	for i := range all {
		all[i] = NodeSnapshot{Node: i, State: n.state(i)}
	}
	return all
}
