package orwl

import (
	"github.com/orwl/go-orwl/net/topology"
)

// Placement says where the tasks of a run run and where its resources are kept, as one of
// its nodes knows it. [Runtime.Placement] makes it. Its String is a table of all tasks and
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

	rt *Runtime
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

// Placement returns where the tasks run and where the resources are kept. Before the run
// it is the zero Placement.
func (rt *Runtime) Placement() Placement {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if rt.run == nil {
		return Placement{}
	}
	return rt.placement()
}

func (rt *Runtime) placement() Placement {
	p := Placement{Node: rt.Node(), Nodes: rt.Nodes(), ByIndex: rt.tooLarge, rt: rt}
	for _, t := range rt.tasks {
		p.Tasks = append(p.Tasks, rt.taskPlacement(t))
	}
	program := rt.programOf(rt.tasks, rt.said, rt.resources)
	decides := make(map[string]string)
	for r, task := range program.Deciders() {
		decides[program.Names[r]] = rt.tasks[task].name
	}
	for _, name := range rt.sorted() {
		r := ResourcePlacement{Resource: name, Bytes: rt.resources[name].InitialSize(), Home: rt.homes[name]}
		if _, r.Declared = rt.said[name]; !r.Declared {
			r.Task = decides[name]
		}
		p.Resources = append(p.Resources, r)
	}
	byIndex := program.ByIndex()
	p.Crossing, p.BetweenMachines = program.Crossing(rt.nodesOfTasks(), rt.homes)
	p.CrossingByIndex, _ = program.Crossing(byIndex, program.HomesFor(byIndex))
	if m := program.Machines; m.Mixed() {
		p.Machines = m
	}
	return p
}

func (rt *Runtime) taskPlacement(t *Task) TaskPlacement {
	p := TaskPlacement{Task: t.name, Node: t.on, On: t.placed, Worker: -1, CPU: -1}
	if t.step != nil && t.here() {
		p.Worker = int(t.step.seat)
		if rt.seats.cpus != nil {
			p.CPU, _ = rt.seats.cpus.CPU(topology.Rank(p.Worker))
		}
	}
	return p
}

func (rt *Runtime) nodesOfTasks() []int {
	on := make([]int, len(rt.tasks))
	for i, t := range rt.tasks {
		on[i] = t.on
	}
	return on
}
