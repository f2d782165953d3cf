package plan

import "github.com/orwl/go-orwl/orwl/liveness"

// A plan on several nodes. Another node sends a version of the bytes, or the credit of a reader: the rule
// stands in nodes_test.go. It asks two things of the plan.
//
//   - A task crosses nodes if one of its resources is also used on another node, or has its home there. Such
//     a task has a counter for each access, since each is told to other nodes.
//   - Where readers stand between a write and the writer before it, and this writer is on another node, the
//     nearest conditions lack the writer. The credits of the readers say that it is done. They do not say that
//     its bytes are here.

// Use is an access of a task that has rounds, as other nodes see it.
type Use struct {
	Counter int32
	Node    int32 // of its task
	Writes  bool
}

// nodes is what a plan on several nodes knows beside the conditions. It is nil for one node.
type nodes struct {
	homes  map[string]int
	home   []int32  // by resource
	of     []uint32 // by access: its resource
	places []uint32 // by resource: where its uses begin; and the end
	uses   []Use
}

// NewOnNodes makes the plan of a program whose tasks run on the nodes that they name. homes has the home of each
// resource: node 0 if it has none. The plan is the same on every node.
func NewOnNodes(s liveness.System, tasks []Task, homes map[string]int) *Plan {
	return newPlan(s, tasks, &nodes{homes: homes}, most)
}

// Resources is how many resources the accesses of a plan on several nodes name. They have numbers from 0, in the
// order in which the tasks name them first.
func (p *Plan) Resources() int { return len(p.nodes.home) }

// Resource is the number of the resource of a task's access, in a plan on several nodes.
func (p *Plan) Resource(task, access int) int {
	return int(p.nodes.of[int(p.first[task])+access])
}

// Home is the node that keeps a resource, in a plan on several nodes.
func (p *Plan) Home(resource int) int { return int(p.nodes.home[resource]) }

// Uses are the accesses of a resource in their start order, in a plan on several nodes. The tasks without
// rounds have none.
func (p *Plan) Uses(resource int) []Use {
	n := p.nodes
	return n.uses[n.places[resource]:n.places[resource+1]]
}

// add notes the next resource.
func (n *nodes) add(name string) {
	if n != nil {
		n.home = append(n.home, int32(n.homes[name]))
	}
}

// crossing says which tasks cross nodes: nil on one node.
func (n *nodes) crossing(s liveness.System, tasks []Task) []bool {
	if n == nil {
		return nil
	}
	shared := make(map[string]bool) // some task is not on its home
	for t, task := range s.Tasks {
		for _, a := range task.Accesses {
			if tasks[t].Rounds != 0 && tasks[t].Node != n.homes[a.Resource] {
				shared[a.Resource] = true
			}
		}
	}
	crosses := make([]bool, len(tasks))
	for t, task := range s.Tasks {
		for _, a := range task.Accesses {
			crosses[t] = crosses[t] || shared[a.Resource]
		}
	}
	return crosses
}

// keep keeps who uses what.
func (n *nodes) keep(d *draft, of []uint32) {
	if n == nil {
		return
	}
	n.homes, n.of, n.places = nil, of, d.places
	n.uses = make([]Use, len(d.order))
	for i, a := range d.order {
		n.uses[i] = Use{int32(d.counter[a]), int32(d.tasks[d.task[a]].Node), d.write[a]}
	}
}

// elsewhere reports whether two accesses are on different nodes.
func (d *draft) elsewhere(x, y uint32) bool {
	return d.nodes != nil && d.tasks[d.task[x]].Node != d.tasks[d.task[y]].Node
}
