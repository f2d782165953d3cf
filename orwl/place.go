package orwl

import (
	"github.com/orwl/go-orwl/net/topology"
	"github.com/orwl/go-orwl/orwl/placement"
	"github.com/orwl/go-orwl/resource"
)

// shares is what placement knows of a program: which task accesses which resource, and
// how many bytes a resource has. Tasks and resources are numbers.
type shares struct {
	accesses []placement.Access // in the order of tasks
	sizes    []int              // by resource
	names    []string           // by resource
}

// sharesOf numbers the tasks in their order, and resources in the order of their first
// access. The caller holds mu.
func sharesOf(tasks []*Task) (s shares) {
	number := make(map[*resource.Resource]int)
	for i, t := range tasks {
		for _, a := range t.accesses {
			n, known := number[a.resource]
			if !known {
				n = len(s.sizes)
				number[a.resource] = n
				s.sizes = append(s.sizes, a.resource.InitialSize())
				s.names = append(s.names, a.resource.Name())
			}
			s.accesses = append(s.accesses, placement.Access{Task: i, Resource: n, Write: a.mode == resource.Write})
		}
	}
	return s
}

// Place proposes a rank of a machine for each task, so that tasks that share much are
// close to each other. homes are the proposed ranks of the resources, by name: near the
// tasks that write them. Place changes nothing. [Runtime.Run] places the tasks of a run
// by itself: see [Task.On] and [Runtime.Placement].
func (rt *Runtime) Place(tree *topology.Tree, o placement.Options) (p *placement.Placement, homes map[string]topology.Rank, err error) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	s := sharesOf(rt.tasks)
	g, err := placement.GraphOf(len(rt.tasks), s.accesses, s.sizes)
	if err != nil {
		return nil, nil, err
	}
	for _, t := range rt.tasks {
		g.Names = append(g.Names, t.name)
	}
	if p, err = placement.Place(tree, g, o); err != nil {
		return nil, nil, err
	}
	ranks, err := p.Homes(len(s.names), s.accesses)
	if err != nil {
		return nil, nil, err
	}
	homes = make(map[string]topology.Rank, len(s.names))
	for i, rank := range ranks {
		homes[s.names[i]] = rank
	}
	return p, homes, nil
}
