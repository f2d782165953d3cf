package inspect

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/orwl/go-orwl/orwl/internal/spread"
	"github.com/orwl/go-orwl/orwl/placement"
)

// Placement says where the tasks of a run run and where its resources are kept, as one of
// its nodes knows it. Its String is a table of all tasks and
// resources, and Why is about one task.
type Placement struct {
	Node, Nodes int
	// ByIndex: the program has too many accesses to be placed, so tasks without On are
	// dealt in their order.
	ByIndex   bool
	Tasks     []TaskPlacement     // in the order of the program
	Resources []ResourcePlacement // by name
	// Crossing is how many bytes go from node to node in a round. It assumes that every task
	// makes each of its accesses once a round, and that a write changes all bytes.
	Crossing int64
	// Machines are the nodes on each machine, if some of them share one and others do not.
	// Tasks that share much are on one machine then.
	Machines [][]int
	// BetweenMachines is the part of Crossing that goes from machine to machine.
	BetweenMachines int64
	// CrossingByIndex is the same if tasks without On were dealt in their order.
	CrossingByIndex int64
	// Accesses are those that the tasks have declared, in the order of the program. Task is a place in
	// Tasks, and Resource one in Resources.
	Accesses []placement.Access
}

// TaskPlacement is where a task runs.
type TaskPlacement struct {
	Task string
	Node int
	On   bool // Task.On has said so
	// Worker is the home worker of a step task of this node: it gets the step unless
	// another worker made it ready. Tasks with goroutines and tasks of other nodes have
	// none, which is -1.
	Worker int
	CPU    int // to which the worker is pinned; -1 if it is not
}

// ResourcePlacement is where a resource is kept.
type ResourcePlacement struct {
	Resource string
	Bytes    int // at the start of the run
	Home     int
	Declared bool // Runtime.Home has said so
	// Task is the task that decides otherwise: the first that writes the resource, or
	// else the first that reads it. Without such a task a hash of the name decides.
	Task string
}

// String is the placement as a text: the bytes that go from node to node in a round, a
// line for each task, and a line for each resource.
func (p Placement) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d tasks and %d resources on %s, as node %d knows it\n", len(p.Tasks), len(p.Resources), nodesIn(p.Nodes), p.Node)
	fmt.Fprintf(&b, "%d bytes go from node to node in a round; with tasks dealt in their order it would be %d\n", p.Crossing, p.CrossingByIndex)
	if p.Machines != nil {
		fmt.Fprintf(&b, "%d of them go from machine to machine; the nodes of each machine: %v\n", p.BetweenMachines, spread.Machines(p.Machines))
	}
	b.WriteByte('\n')
	tasks := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tasks, "task\tnode\tworker\tCPU\twhy")
	for _, t := range p.Tasks {
		fmt.Fprintf(tasks, "%s\t%d\t%s\t%s\t%s\n", t.Task, t.Node, orNone(t.Worker), orNone(t.CPU), p.whyOf(t))
	}
	_ = tasks.Flush() // a strings.Builder takes everything
	b.WriteByte('\n')
	resources := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(resources, "resource\thome\tbytes\twhy")
	for _, r := range p.Resources {
		fmt.Fprintf(resources, "%s\t%d\t%d\t%s\n", r.Resource, r.Home, r.Bytes, r.why())
	}
	_ = resources.Flush()
	return b.String()
}

func nodesIn(n int) string {
	if n == 1 {
		return "1 node"
	}
	return fmt.Sprintf("%d nodes", n)
}

// orNone is a number, or a dash for -1.
func orNone(n int) string {
	if n < 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

// whyOf says why a task is on its node.
func (p Placement) whyOf(t TaskPlacement) string {
	switch {
	case t.On:
		return "On"
	case p.Nodes == 1:
		return "the only node"
	case p.ByIndex:
		return "dealt in order: the program is too large to place"
	}
	return "near the tasks that it shares with"
}

// why says why a resource is kept at its home.
func (r ResourcePlacement) why() string {
	switch {
	case r.Declared:
		return "Home"
	case r.Task != "":
		return fmt.Sprintf("where task %s runs", r.Task)
	}
	return "no task accesses it: a hash of its name decides"
}

// Why tells in words why a task runs where it runs: what it accesses, where that is kept,
// and how many bytes more would go from node to node in a round if this task alone ran on
// another node that it shares with. The error matches [placement.ErrUnknownTask].
func (p Placement) Why(task string) (string, error) {
	at := slices.IndexFunc(p.Tasks, func(t TaskPlacement) bool { return t.Task == task })
	if at < 0 {
		return "", fmt.Errorf("orwl: %w %q: give the name of a task of this run", placement.ErrUnknownTask, task)
	}
	t := p.Tasks[at]
	var b strings.Builder
	fmt.Fprintf(&b, "Task %s runs on node %d: %s.\n", t.Task, t.Node, p.whyOf(t))
	if t.Worker >= 0 {
		fmt.Fprintf(&b, "Its home worker is %d, on CPU %s.\n", t.Worker, orNone(t.CPU))
	}
	var others []int
	for _, a := range p.Accesses {
		if a.Task != at {
			continue
		}
		r, mode := p.Resources[a.Resource], "read"
		if a.Write {
			mode = "write"
		}
		fmt.Fprintf(&b, "  %-5s %s, %d bytes, kept on node %d: %s\n", mode, r.Resource, r.Bytes, r.Home, r.why())
		if r.Home != t.Node && !slices.Contains(others, r.Home) {
			others = append(others, r.Home)
		}
	}
	for _, node := range others {
		fmt.Fprintf(&b, "On node %d it would change the bytes between nodes by %+d a round.\n", node, p.elsewhere(at, node)-p.Crossing)
	}
	if len(others) == 0 {
		b.WriteString("All of that is kept on its node.\n")
	}
	return b.String(), nil
}

// elsewhere returns the bytes between nodes if one task alone ran on another node.
func (p *Placement) elsewhere(task, node int) int64 {
	program := &spread.Program{Nodes: p.Nodes, Machines: p.Machines, Accesses: p.Accesses, Homes: make(map[string]int)}
	var on []int
	for _, t := range p.Tasks {
		on = append(on, t.Node)
	}
	on[task] = node
	for _, r := range p.Resources {
		program.Names, program.Sizes = append(program.Names, r.Resource), append(program.Sizes, r.Bytes)
		if r.Declared || r.Task == "" { // no task takes it along
			program.Homes[r.Resource] = r.Home
		}
	}
	bytes, _ := program.Crossing(on, program.HomesFor(on))
	return bytes
}
