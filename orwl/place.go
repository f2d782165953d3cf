package orwl

import (
	"maps"
	"slices"

	"github.com/orwl/go-orwl/net/topology"
	"github.com/orwl/go-orwl/orwl/internal/spread"
	"github.com/orwl/go-orwl/orwl/placement"
	"github.com/orwl/go-orwl/resource"
)

// programOf is what placement knows of tasks, and of resources that are named in all. homes are those that
// are known. The caller holds mu.
func (rt *Runtime) programOf(tasks []*Task, homes map[string]int, all map[string]*resource.Resource) *spread.Program {
	p := &spread.Program{Nodes: rt.Nodes(), Machines: rt.grounds.Machines(), Homes: homes, All: slices.Collect(maps.Keys(all))}
	number := make(map[*resource.Resource]int)
	for i, t := range tasks {
		on := spread.Free
		if t.placed {
			on = t.on
		}
		p.On = append(p.On, on)
		for _, a := range t.accesses {
			n, known := number[a.resource]
			if !known {
				n = len(p.Sizes)
				number[a.resource] = n
				p.Sizes = append(p.Sizes, a.resource.InitialSize())
				p.Names = append(p.Names, a.resource.Name())
			}
			p.Accesses = append(p.Accesses, placement.Access{Task: i, Resource: n, Write: a.mode == resource.Write})
		}
	}
	return p
}

// Place proposes a rank of a machine for each task, so that tasks that share much are
// close to each other. homes are the proposed ranks of the resources, by name: near the
// tasks that write them. Place changes nothing. [Runtime.Run] places the tasks of a run
// by itself: see [Task.On] and [Runtime.Placement].
func (rt *Runtime) Place(tree *topology.Tree, o placement.Options) (p *placement.Placement, homes map[string]topology.Rank, err error) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	s := rt.programOf(rt.tasks, nil, nil)
	g, err := placement.GraphOf(len(rt.tasks), s.Accesses, s.Sizes)
	if err != nil {
		return nil, nil, err
	}
	for _, t := range rt.tasks {
		g.Names = append(g.Names, t.name)
	}
	if p, err = placement.Place(tree, g, o); err != nil {
		return nil, nil, err
	}
	ranks, err := p.Homes(len(s.Names), s.Accesses)
	if err != nil {
		return nil, nil, err
	}
	homes = make(map[string]topology.Rank, len(s.Names))
	for i, rank := range ranks {
		homes[s.Names[i]] = rank
	}
	return p, homes, nil
}
