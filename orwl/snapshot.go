package orwl

import (
	"fmt"

	"github.com/orwl/go-orwl/resource"
)

// Snapshot is a program at one moment, as seen by one of its nodes, for a page or a
// terminal that shows the running program. Its JSON has the names in the tags, and
// lists keep their order from one snapshot to the next.
type Snapshot struct {
	Node    int  `json:"node"`
	Running bool `json:"running"` // some task of this node runs
	// Still is how many seconds nothing has moved on this node, as far as it has
	// looked.
	Still     float64            `json:"still_seconds"`
	Nodes     []NodeSnapshot     `json:"nodes"`
	Tasks     []TaskSnapshot     `json:"tasks"`     // of this node, in the order of the program
	Resources []ResourceSnapshot `json:"resources"` // that this node's tasks access or that are kept here, by name
	// WaitsFor is the wait-for graph, in the order of the tasks that wait.
	WaitsFor []WaitEdge `json:"waits_for"`
}

// NodeState is the state of a node, as another node sees it.
type NodeState string

// The states of nodes.
const (
	NodeHere      NodeState = "here"
	NodeSuspected NodeState = "suspected" // no message has come for a while
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

// The states of tasks.
const (
	TaskDeclared TaskState = "declared" // the program has not been started
	TaskWorking  TaskState = "working"
	// TaskWaiting: the task has a request that is not granted. The task may still work,
	// before it acquires; it does not report that.
	TaskWaiting TaskState = "waiting"
	TaskEnded   TaskState = "ended"
)

// TaskSnapshot is a task in a Snapshot.
type TaskSnapshot struct {
	Task  string    `json:"task"`
	Node  int       `json:"node"`
	State TaskState `json:"state"`
	Round int64     `json:"round"`
	// Holds are the resources with a grant for the task, acquired or not.
	Holds []string `json:"holds"`
	// Waits is the first access that is requested and not granted.
	Waits *WaitSnapshot `json:"waits,omitempty"`
}

// WaitSnapshot is an access that a task waits for, or will wait for.
type WaitSnapshot struct {
	Resource string `json:"resource"`
	Mode     string `json:"mode"`
	// For is the seconds that the wait has lasted, at least. The runtime looks four
	// times in each Options.Stall, and a wait counts from the look that first saw it.
	For float64 `json:"for_seconds"`
	// Behind are the tasks with a grant of the resource: tasks of this node by name,
	// others as "node 2".
	Behind []string `json:"behind"`
}

// ResourceSnapshot is a resource in a Snapshot.
type ResourceSnapshot struct {
	Resource string `json:"resource"`
	Home     int    `json:"home"`
	Size     int    `json:"size_bytes"`
	// Version counts the writes, and Fence the granted writers. If the resource has
	// another home, both are from the last grant here.
	Version uint64 `json:"version"`
	Fence   uint64 `json:"fence"`
	Broken  bool   `json:"broken"`
	// Whole says that the queue is complete. For a resource with another home it shows
	// this node's requests only.
	Whole bool            `json:"whole"`
	Queue []GroupSnapshot `json:"queue"` // the first group is granted, if any is
}

// GroupSnapshot is a group of a queue: a writer, or neighbouring readers.
type GroupSnapshot struct {
	Mode    string          `json:"mode"`
	Granted bool            `json:"granted"`
	Members []EntrySnapshot `json:"members"`
}

// EntrySnapshot is a request in a queue.
type EntrySnapshot struct {
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
}

// guestName stands for a task of another node.
func guestName(n resource.Node) string { return fmt.Sprintf("node %d", n) }

// Snapshot looks at the program as it is. It stops no task, so what moves meanwhile may
// show in two states. Any goroutine may call it at any time.
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

// states is the state of each node.
func (n *Nodes) states() []NodeSnapshot {
	all := make([]NodeSnapshot, n.Count())
	for i := range all {
		all[i] = NodeSnapshot{Node: i, State: n.state(i)}
	}
	return all
}
