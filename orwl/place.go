package orwl

import (
	"github.com/orwl/go-orwl/net/topology"
	"github.com/orwl/go-orwl/orwl/placement"
	"github.com/orwl/go-orwl/resource"
)

// Place proposes on which rank of a machine each task should run, so that those
// that share much are close to each other, by what they have declared. Homes are
// the ranks where the resources should be, by name: near who writes them.
func (rt *Runtime) Place(tree *topology.Tree, o placement.Options) (p *placement.Placement, homes map[string]topology.Rank, err error) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	number := make(map[*resource.Resource]int)
	var sizes []int
	var names []string
	var accesses []placement.Access
	for i, t := range rt.tasks {
		for _, a := range t.accesses {
			n, known := number[a.resource]
			if !known {
				n = len(sizes)
				number[a.resource] = n
				sizes = append(sizes, a.resource.InitialSize())
				names = append(names, a.resource.Name())
			}
			accesses = append(accesses, placement.Access{Task: i, Resource: n, Write: a.mode == resource.Write})
		}
	}
	g, err := placement.GraphOf(len(rt.tasks), accesses, sizes)
	if err != nil {
		return nil, nil, err
	}
	for _, t := range rt.tasks {
		g.Names = append(g.Names, t.name)
	}
	if p, err = placement.Place(tree, g, o); err != nil {
		return nil, nil, err
	}
	ranks, err := p.Homes(len(names), accesses)
	if err != nil {
		return nil, nil, err
	}
	homes = make(map[string]topology.Rank, len(names))
	for i, rank := range ranks {
		homes[names[i]] = rank
	}
	return p, homes, nil
}
