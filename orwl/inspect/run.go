package inspect

import (
	"fmt"
	"time"
)

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
