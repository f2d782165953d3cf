package orwl

import (
	"maps"
	"slices"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/net/topology"
	"github.com/orwl/go-orwl/orwl/inspect"
	"github.com/orwl/go-orwl/orwl/internal/looks"
	"github.com/orwl/go-orwl/orwl/internal/spread"
	"github.com/orwl/go-orwl/orwl/placement"
)

// Placement returns where the tasks run and where the resources are kept, as this node knows it. Before the run
// it is the zero Placement.
func (rt *Runtime) Placement() inspect.Placement {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if rt.run == nil {
		return inspect.Placement{}
	}
	return rt.placement()
}

func (rt *Runtime) placement() inspect.Placement {
	var tasks []inspect.TaskPlacement
	for _, t := range rt.tasks {
		tasks = append(tasks, rt.taskPlacement(t))
	}
	var resources []inspect.ResourcePlacement
	for _, name := range rt.sorted() {
		resources = append(resources, inspect.ResourcePlacement{Resource: name, Bytes: rt.resources[name].InitialSize(), Home: rt.homes[name]})
	}
	return looks.Placement(rt.programOf(rt.tasks, rt.said, rt.resources), rt.Node(), tasks, resources)
}

func (rt *Runtime) taskPlacement(t *Task) inspect.TaskPlacement {
	p := inspect.TaskPlacement{Task: t.name, Node: t.on, On: t.placed, Worker: -1, CPU: -1}
	if t.step != nil && t.here() {
		p.Worker = int(t.step.seat)
		if rt.seats.cpus != nil {
			p.CPU, _ = rt.seats.cpus.CPU(topology.Rank(p.Worker))
		}
	}
	return p
}

// programOf is what placement knows of tasks, and of resources that are named in all. homes are those that
// are known. The caller holds mu.
func (rt *Runtime) programOf(tasks []*Task, homes map[string]int, all map[string]*declared) *spread.Program {
	p := &spread.Program{Nodes: rt.Nodes(), Machines: rt.o.Nodes.machines(), Weights: rt.o.Nodes.weighs(), Homes: homes, All: slices.AppendSeq(make([]string, 0, len(all)), maps.Keys(all))}
	accesses := 0
	for _, t := range tasks {
		accesses += len(t.accesses)
	}
	p.Accesses = make([]placement.Access, 0, accesses)
	for i, t := range tasks {
		on := spread.Free
		if t.placed {
			on = t.on
		}
		p.On = append(p.On, on)
		for _, a := range t.accesses {
			n := int(a.resource.number)
			if missing := n + 1 - len(p.Sizes); missing > 0 { // other tasks may name some of them
				p.Sizes, p.Names = append(p.Sizes, make([]int, missing)...), append(p.Names, make([]string, missing)...)
			}
			p.Sizes[n], p.Names[n] = a.resource.InitialSize(), a.resource.Name()
			p.Accesses = append(p.Accesses, placement.Access{Task: i, Resource: n, Write: a.mode == queue.Write})
		}
	}
	return p
}
