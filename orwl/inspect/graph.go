package inspect

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/orwl/go-orwl/orwl/internal/spread"
	"github.com/orwl/go-orwl/orwl/placement"
)

// A node sees for which of its own tasks another one is not ready yet. Together the nodes have the graph of all waits:
//
//	a ──x──▶ b ──y──▶ c         c computes: a and b wait for it in the end
//	d ──z──▶ node 2             node 2 does not answer
//	e ──w──▶ the bytes of w     the task before e has ended its round, and e has not heard of it
//
// A vertex without an arc is the end of each chain that leads there. Package looks makes the states, and nothing
// here waits or reads a clock.

// graph has the tasks of all nodes first, in their order, and then what else they wait for.
type graph struct {
	run   Run
	all   []vertex
	tasks int
	named map[string]int // tasks by name
	other map[vertexKey]int
}

// vertex is a task, or what tasks wait for that is none.
type vertex struct {
	task *TaskState // nil: the fields below say what it is
	is   kind
	node int
	from int    // of kind bytes: the node that the bytes come from
	name string // of a resource, or of one that has it and is no task
	of   string // of kind outside: the resource
	to   []arc
}

// vertexKey tells vertices apart that are no tasks.
type vertexKey struct {
	is         kind
	node, from int
	name, of   string
}

// kind is what a vertex is that is no task.
type kind uint8

const (
	silent   kind = iota + 1 // a node that does not answer
	unbegun                  // a node that has not called Run
	starting                 // a node that waits for others to call Run
	bytes                    // bytes that are on their way to a node
	outside                  // a handle of no task
)

// arc is a wait.
type arc struct {
	vertex   int
	resource string // empty for a worker
}

// graph finds all waits.
func (r Run) graph() *graph {
	g := &graph{run: r, named: make(map[string]int), other: make(map[vertexKey]int)}
	for _, n := range r.Nodes {
		if n.State == nil {
			continue
		}
		for i := range n.State.Tasks {
			t := &n.State.Tasks[i]
			if _, known := g.named[t.Task]; known && t.State == TaskDeclared {
				continue // before the run, each node knows all tasks
			}
			g.named[t.Task] = len(g.all)
			g.all = append(g.all, vertex{task: t, node: n.Node})
		}
	}
	g.tasks = len(g.all)
	for _, n := range r.Nodes {
		g.node(n)
	}
	g.start()
	return g
}

// add is a vertex that is no task.
func (g *graph) add(v vertex) int {
	key := vertexKey{v.is, v.node, v.from, v.name, v.of}
	at, known := g.other[key]
	if !known {
		at = len(g.all)
		g.other[key] = at
		g.all = append(g.all, v)
	}
	return at
}

// node adds the waits of a node's tasks.
func (g *graph) node(n NodeReport) {
	s := n.State
	switch {
	case s == nil:
		if n.Status != NodeLeft {
			g.add(vertex{is: silent, node: n.Node})
		}
		return
	case s.Starting:
		g.add(vertex{is: starting, node: n.Node})
		return
	}
	for _, e := range s.WaitsFor {
		if from, known := g.named[e.From]; known {
			g.wait(from, e)
		}
	}
	var computing []arc
	for i := range s.Tasks {
		if t := &s.Tasks[i]; t.State == TaskWorking {
			computing = append(computing, arc{vertex: g.named[t.Task]})
		}
	}
	for i := range s.Tasks {
		t := &s.Tasks[i]
		at := g.named[t.Task]
		if g.all[at].task != t {
			continue // another node has a task of that name: the nodes are about to find out
		}
		switch {
		case t.State == TaskQueued:
			g.all[at].to = computing
		case t.Waits != nil && len(g.all[at].to) == 0:
			if to := g.unseen(n.Node, s, t.Waits); to >= 0 {
				g.all[at].to = []arc{{to, t.Waits.Resource}}
			}
		}
	}
}

// unseen is what a task waits for whose node knows no task that has the turn. It is -1 if that is not known.
func (g *graph) unseen(node int, s *State, w *WaitState) int {
	home := node
	for _, r := range s.Resources {
		if r.Resource == w.Resource {
			home = r.Home
		}
	}
	switch {
	case len(w.Behind) > 0:
		return g.add(vertex{is: outside, node: node, name: w.Behind[0], of: w.Resource})
	case home == node || !g.has(home):
		return -1
	case g.answers(home):
		return g.add(vertex{is: bytes, node: node, from: home, name: w.Resource})
	}
	return g.add(vertex{is: silent, node: home})
}

// has reports whether the run has a node of a number. A state may come from a node that is in another life already.
func (g *graph) has(node int) bool { return node >= 0 && node < len(g.run.Nodes) }

// answers reports whether a node has answered.
func (g *graph) answers(node int) bool {
	return g.has(node) && g.run.Nodes[node].State != nil
}

// wait adds a wait of a task.
func (g *graph) wait(from int, e WaitEdge) {
	add := func(to int) { g.all[from].to = append(g.all[from].to, arc{to, e.Resource}) }
	to, known := g.named[e.To]
	switch {
	case !known && !g.has(e.Node):
	case !known && e.Node == g.all[from].node:
		add(g.add(vertex{is: outside, node: e.Node, name: e.To, of: e.Resource}))
	case !known && !g.answers(e.Node):
		add(g.add(vertex{is: silent, node: e.Node}))
	case !known && g.run.Nodes[e.Node].State.Starting:
		add(g.add(vertex{is: starting, node: e.Node}))
	case !known:
		add(g.add(vertex{is: outside, node: e.Node, name: "a handle of no task", of: e.Resource}))
	case g.all[to].task.State == TaskDeclared:
		add(g.add(vertex{is: unbegun, node: e.Node}))
	case g.all[to].node == g.all[from].node && g.all[to].task.State == TaskEnded:
		// The task has ended since the look began.
	case g.all[to].node != g.all[from].node && g.passed(g.all[to].task, e):
		add(g.add(vertex{is: bytes, node: g.all[from].node, from: g.all[to].node, name: e.Resource}))
	default:
		add(to)
	}
}

// passed reports whether a task on another node has ended the round that a wait is for. It cannot have the resource again
// before the one that waits has had it.
func (g *graph) passed(t *TaskState, e WaitEdge) bool {
	return t.State == TaskEnded || t.Round > e.Round && !slices.Contains(t.Holds, e.Resource)
}

// start has the nodes that have called Run wait for those that have not.
func (g *graph) start() {
	for _, n := range g.run.Nodes {
		if n.State == nil || !n.State.Starting {
			continue
		}
		from := g.add(vertex{is: starting, node: n.Node})
		for _, other := range g.run.Nodes {
			switch s := other.State; {
			case s == nil && other.Status != NodeLeft:
				to := g.add(vertex{is: silent, node: other.Node})
				g.all[from].to = append(g.all[from].to, arc{vertex: to})
			case s != nil && !s.Starting && !s.Running:
				to := g.add(vertex{is: unbegun, node: other.Node})
				g.all[from].to = append(g.all[from].to, arc{vertex: to})
			}
		}
	}
}

// activity is what a task does.
func (g *graph) activity(at int) Activity {
	v := &g.all[at]
	switch v.task.State {
	case TaskWorking:
		return Computes
	case TaskQueued:
		return Queued
	case TaskWaiting:
		for _, to := range v.to {
			if g.all[to.vertex].is != bytes {
				return ForTurn
			}
		}
		if len(v.to) > 0 {
			return ForBytes
		}
		return ForTurn
	}
	return Idle
}

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
