package orwl

import (
	"github.com/orwl/go-orwl/net/topology"
	"github.com/orwl/go-orwl/orwl/inspect"
)

// Placement says where the tasks of a run run and where its resources are kept, as one of its nodes
// knows it: see [inspect.Placement]. Its String is a table of all tasks and resources, and Why is
// about one task.
type Placement = inspect.Placement

// TaskPlacement is where a task runs: see [inspect.TaskPlacement].
type TaskPlacement = inspect.TaskPlacement

// ResourcePlacement is where a resource is kept: see [inspect.ResourcePlacement].
type ResourcePlacement = inspect.ResourcePlacement

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
	var tasks []TaskPlacement
	for _, t := range rt.tasks {
		tasks = append(tasks, rt.taskPlacement(t))
	}
	var resources []ResourcePlacement
	for _, name := range rt.sorted() {
		resources = append(resources, ResourcePlacement{Resource: name, Bytes: rt.resources[name].InitialSize(), Home: rt.homes[name]})
	}
	return inspect.PlacementOf(rt.programOf(rt.tasks, rt.said, rt.resources), rt.Node(), tasks, resources)
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
