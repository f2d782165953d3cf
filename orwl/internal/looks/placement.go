package looks

import (
	"slices"

	"github.com/orwl/go-orwl/orwl/inspect"
	"github.com/orwl/go-orwl/orwl/internal/spread"
)

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
