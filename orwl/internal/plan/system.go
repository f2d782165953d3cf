package plan

import (
	"fmt"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/orwl/liveness"
)

// OfSystem makes the plan of a system whose tasks run on one node, and have so many rounds. The system must have passed
// [liveness.System.Check].
func OfSystem(s liveness.System, tasks []Task) *Plan { return New(describe(s, tasks)) }

// OfSystemOnNodes is OfSystem for tasks that run on the nodes that they name. homes has the home of each resource: node 0 if it
// has none.
func OfSystemOnNodes(s liveness.System, tasks []Task, homes map[string]int) *Plan {
	return New(describeOnNodes(s, tasks, homes))
}

// describe says of a system what a plan needs to know.
func describe(s liveness.System, tasks []Task) Program {
	p, _ := number(s, tasks)
	return p
}

func describeOnNodes(s liveness.System, tasks []Task, homes map[string]int) Program {
	p, names := number(s, tasks)
	p.Homes = make([]int32, len(names))
	for r, name := range names {
		p.Homes[r] = int32(homes[name])
	}
	return p
}

// number gives the resources numbers, in the order in which the tasks name them first.
func number(s liveness.System, tasks []Task) (p Program, names []string) {
	if len(tasks) != len(s.Tasks) {
		panic(fmt.Sprintf("plan: a system of %d tasks, and %d tasks", len(s.Tasks), len(tasks)))
	}
	known, first := make(map[string]int), make([]int, len(tasks))
	for t, task := range s.Tasks {
		first[t] = len(p.Accesses)
		described := tasks[t]
		described.Apart = described.Apart || len(task.Sequence) > 2 // two steps acquire all and release all
		p.Tasks = append(p.Tasks, described)
		for _, a := range task.Accesses {
			r, named := known[a.Resource]
			if !named {
				r = len(names)
				known[a.Resource], names = r, append(names, a.Resource)
			}
			p.Accesses = append(p.Accesses, Access{Task: uint32(t), Resource: uint32(r), Writes: a.Mode == queue.Write})
		}
	}
	for _, f := range s.Order() {
		p.Order = append(p.Order, uint32(first[f.Task]+f.Access))
	}
	p.Resources = len(names)
	return p, names
}
